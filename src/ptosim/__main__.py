"""`python -m ptosim`."""

from ptosim.cli import main

main()
