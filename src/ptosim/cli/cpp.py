"""The commands for programs in C++."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ptosim.cli.command import TARGET, Outcome, reports


@click.group()
def cpp() -> None:
    """Run programs in C++ that launch kernels."""


@cpp.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE... [-- ARGUMENT...]")
@click.option("-D", "defines", multiple=True, metavar="NAME[=VALUE]", help="Define a macro.")
@click.option("-I", "include_dirs", multiple=True, metavar="DIR", help="Where headers are.")
@TARGET
@reports
def host(
    files: Sequence[str], defines: Sequence[str], include_dirs: Sequence[str], target: str | None, as_json: bool
) -> Outcome:
    """Run a host program as it stands.

    Its files are compiled with the kernels that they launch; each launch is recorded, and run on the memory of the
    program. What stands behind -- and is no C++ file goes to the program.
    """
    from ptosim.cpp_host import run_host

    sources = [file for file in files if file.endswith((".cpp", ".cc", ".cxx", ".cce"))]
    words = [file for file in files if file not in sources]
    named = [(name, value if equals else "1") for name, equals, value in (each.partition("=") for each in defines)]
    if not sources:
        raise click.UsageError("no C++ file is given")
    code = run_host(sources, words, include_dirs, named, target)
    return Outcome(result={"exit_code": code}, exit_code=int(code != 0))
