"""A process that has imported what commands need, and waits for the words of one: `python -m ptosim.cli.waiting`."""

import json
import sys
from importlib import import_module

NEEDED = "cli.commands native.build.compilation native.observe.filter reference.engine report.envelope \
example_arguments sanitize.checker sanitize.session timed_run report.check_report report.profile"


def main() -> None:
    """Read the words as a JSON array in a line of standard input, and do what they say."""
    for name in NEEDED.split():
        import_module(f"ptosim.{name}")
    if line := sys.stdin.buffer.readline():
        from ptosim.cli import main as command

        sys.argv = ["ptosim", *json.loads(line)]
        command()


if __name__ == "__main__":
    main()
