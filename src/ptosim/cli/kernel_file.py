"""The kernel that the words of a command name: a file, `-`, `script.py:KERNEL` or `kernel.cpp:EXPRESSION`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ptosim.diagnostics import error
from ptosim.places import CPP_FILE, SCRIPT

if TYPE_CHECKING:
    from ptosim.cpp_module import CppModule
    from ptosim.diagnostics import Source
    from ptosim.module import Kernel, Module
    from ptosim.native.host.library import ModuleOutline

STANDARD_INPUT = "-"
_READ = "ptosim.standard_input"
_LOADED = "ptosim.loaded"
CORES = ("auto", "vector", "cube", "mix")
_OPTION = "ptosim.file_option."


def kept_option(name: str) -> str:
    """The name under which an option is kept that commands are not called with."""
    return f"{_OPTION}{name}"


def _kept(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[kept_option(option.name or "")] = value


def _option(*names: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(*names, expose_value=False, callback=_kept, **settings)


_OPTIONS = (
    _option(
        "-D",
        "defines",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="Set a constant of a kernel in Python, or define a macro of one in C++.",
    ),
    _option("-I", "include_dirs", multiple=True, metavar="DIR", help="Where headers of a kernel in C++ are."),
    _option("--auto", is_flag=True, help="A kernel in C++ that leaves addresses and flags to ptosim."),
)


_CORE = _option("--core", type=click.Choice(CORES), default="auto", help="Cores of a kernel in C++.")


def specialised(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a command that compiles a kernel file."""
    has_cores = any(option.name == "core" for option in getattr(command, "__click_params__", ()))
    for decorate in reversed(_OPTIONS if has_cores else (*_OPTIONS, _CORE)):
        command = decorate(command)
    return command


def KERNEL_FILE(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument FILE, and how it is compiled."""
    return click.argument("file", type=click.Path(allow_dash=True))(specialised(command))


RECORDED_WORDS = click.argument("words", nargs=-1, metavar="[ARGUMENT]...")
"""Arguments of a kernel in C++, which is recorded for a launch."""


def loaded(file: str, target: str | None = None, sync: str = "auto") -> Module | KernelsOfFile:
    """The module, as ptosim.load returns it, or the kernels of a file in C++."""
    from ptosim.api import load

    if (named := CPP_FILE.fullmatch(file)) is not None:
        return _loaded_cpp(named["path"], named["kernel"], target)
    if (named := SCRIPT.fullmatch(file)) is not None:
        return _loaded_script(named["path"], named["kernel"], target, sync)
    module = load(_standard_input() if file == STANDARD_INPUT else file, target, sync)
    click.get_current_context().meta.setdefault(_LOADED, module.outline)
    return module


def _loaded_script(path: str, named: str | None, target: str | None, sync: str) -> Module:
    """The module that a kernel of a script is traced to. It runs the script."""
    from ptosim.api import load
    from ptosim.ptodsl.script import script_kernel

    meta = click.get_current_context().meta
    compiled = script_kernel(path, named, meta.get(f"{_OPTION}defines", ()))
    module = load(compiled.source, target, sync)
    meta.setdefault(_LOADED, module.outline)
    return module


def recorded_module(
    file: str, words: Sequence[str], target: str | None = None, sync: str = "auto", grid: int = 1
) -> Module:
    """The module of a file; of a kernel in C++ what a launch is recorded as, whose arguments may be made up."""
    from ptosim.cli.command import launched_with
    from ptosim.module import Module

    found = loaded(file, target, sync)
    if isinstance(found, Module):
        if words:
            raise click.UsageError(f"{file} takes no arguments: only kernels in C++ are recorded for them")
        return found
    return launched_with(found.kernel(), words, grid).kernel.module


def note_recorded(kernel: Kernel) -> None:
    """The first kernel that is recorded stands for the file."""
    if (context := click.get_current_context(silent=True)) is not None:
        context.meta.setdefault(_LOADED, kernel.module.outline)


class KernelsOfFile:
    """A file in C++, with the kernel that was named behind it."""

    warnings: Sequence[Any] = ()

    def __init__(self, module: CppModule, named: str | None) -> None:
        self.module = module
        self.named = named
        self.target = module.target

    def kernel(self, name: str | None = None) -> Any:
        return self.module.kernel(name or self.named)


def _loaded_cpp(path: str, named: str | None, target: str | None) -> KernelsOfFile:
    from ptosim.cpp_module import load_cpp

    meta = click.get_current_context().meta
    defines = dict[str, str]()
    for text in meta.get(f"{_OPTION}defines", ()):
        name, equals, value = text.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise click.UsageError(f"'-D {text}' is not of the form NAME or NAME=VALUE")
        defines[name] = value if equals else "1"
    folders = meta.get(f"{_OPTION}include_dirs", ())
    own = click.get_current_context().params.get("core")
    core, auto = own if own in CORES else meta.get(f"{_OPTION}core", "auto"), meta.get(f"{_OPTION}auto", False)
    return KernelsOfFile(load_cpp(path, folders, defines, target, core, auto=auto), named)


def first_loaded() -> ModuleOutline | None:
    """The outline of the first module that this command has loaded."""
    return click.get_current_context().meta.get(_LOADED)


def _standard_input() -> Source:
    """It can be read once only, and a command may name it twice."""
    from ptosim.module import read_source

    known = click.get_current_context().meta
    if _READ not in known:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise error("argument", "cannot read <stdin>: it is closed")
        known[_READ] = read_source(sys.stdin.buffer, "<stdin>")
    return known[_READ]
