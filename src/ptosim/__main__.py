"""`python -m ptosim`."""

from ptosim.cli.commands import main

main()
