"""`python -m ptosim.ptodsl script.py args`: runs a script that imports `ptodsl`, unchanged."""

from __future__ import annotations

import runpy
import sys


def main() -> None:
    """The script with its own arguments."""
    if len(sys.argv) < 2:
        sys.stderr.write("usage: python -m ptosim.ptodsl SCRIPT [ARGUMENT]...\n")
        sys.exit(2)
    from ptosim.ptodsl.script import as_ptodsl

    as_ptodsl()
    sys.argv = sys.argv[1:]
    from pathlib import Path

    sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
