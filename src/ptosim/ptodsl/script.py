"""Scripts with kernels: run as modules of their own name, and the kernel that a command means."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ptosim.author.failures import WrongType, failure
from ptosim.diagnostics import Diagnostic, PTOError, error
from ptosim.ptodsl.decorators import CompiledKernel, KernelHandle

_loaded: dict[tuple[str, float], ModuleType] = {}


def as_ptodsl() -> None:
    """Let scripts that import `ptodsl` find it here."""
    from ptosim import ptodsl

    sys.modules.setdefault("ptodsl", ptodsl)
    sys.modules.setdefault("ptodsl.pto", ptodsl.pto)
    sys.modules.setdefault("ptodsl.scalar", ptodsl.scalar)


def load_script(path: str) -> ModuleType:
    """The module that a script is. It runs the author's code, with its folder on the path."""
    file = Path(path)
    try:
        text, changed = file.read_bytes(), file.stat().st_mtime
    except (OSError, ValueError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None
    if (path, changed) in _loaded:
        return _loaded[path, changed]
    as_ptodsl()
    module = ModuleType(file.stem)
    module.__file__ = path
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    before = sys.modules.get(file.stem)
    sys.modules[file.stem] = module
    try:
        exec(compile(text, path, "exec"), vars(module))
    except PTOError:
        raise
    except SystemExit as end:
        raise error("argument", f"{path} ended while it was imported (exit {end.code})") from None
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt):
            raise
        raise error("argument", _failed(path, problem, "imported")) from None
    finally:
        sys.path.remove(folder)
        if before is not None:
            sys.modules[file.stem] = before
    _loaded[path, changed] = module
    return module


def _failed(path: str, problem: BaseException, done: str) -> str:
    """The traceback of the author's own lines."""
    ours = str(Path(__file__).parents[1])
    own = [frame for frame in traceback.extract_tb(problem.__traceback__) if not frame.filename.startswith(ours)]
    lines = traceback.format_list(own) + traceback.format_exception_only(type(problem), problem)
    return f"{path} failed while it was {done}\n" + "".join(lines).rstrip()


def kernels_of(module: ModuleType) -> dict[str, KernelHandle | CompiledKernel]:
    """The kernels that a script has, by name."""
    found = {name: value for name, value in vars(module).items() if isinstance(value, KernelHandle | CompiledKernel)}
    return {name: value for name, value in found.items() if not isinstance(value, KernelHandle) or value.options.entry}


def script_kernel(path: str, named: str | None, constants: Sequence[str] = ()) -> CompiledKernel:
    """The kernel of a script, specialised by words such as BLOCK=64."""
    module = load_script(path)
    handle = _named(path, module, named)
    if isinstance(handle, CompiledKernel):
        if constants:
            raise error("argument", f"{named} is compiled already; -D is for a kernel with constants")
        return handle
    defaults = {each.name: each.default for each in handle.function.parameters if each.is_constant}
    chosen = _constants(handle.symbol, defaults, constants)
    try:
        return handle.compile(**chosen)
    except PTOError:
        raise
    except Exception as problem:
        raise error("invalid", _failed(path, problem, "traced")) from None


def _named(path: str, module: ModuleType, named: str | None) -> KernelHandle | CompiledKernel:
    known = kernels_of(module)
    listed = ", ".join(known) or "none"
    if not named:
        distinct = list({id(value): name for name, value in known.items()}.values())
        if len(distinct) != 1:
            message = f"{path} has {len(known)} kernels; choose one of: {listed}"
            raise error("argument", message, hint=f"write {path}:{distinct[0]}" if distinct else None)
        return known[distinct[0]]
    value: Any = module
    for part in named.split("."):
        value = getattr(value, part, None)
    if value is None:
        value = next((each for each in known.values() if each.name == named), None)
    if isinstance(value, KernelHandle | CompiledKernel):
        return value
    if value is None:
        raise error("argument", f"there is no kernel '{named}' in {path}; it has: {listed}")
    raise failure(WrongType, f"{named} of {path} is no kernel; it has: {listed}", called="argument")


def _constants(kernel: str, defaults: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise error("argument", f"'-D {word}' is not of the form NAME=VALUE")
        if name not in defaults:
            listed = ", ".join(defaults) or "none"
            raise error("argument", f"{kernel} has no constant '{name}'; it has: {listed}")
        found[name] = _constant(name, defaults[name], value)
    return found


def _constant(name: str, default: Any, text: str) -> Any:
    """A value of the type of the default."""
    from ptosim.author.dtypes import DTYPES, DType

    try:
        if isinstance(default, bool):
            return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
        if isinstance(default, int):
            return int(text, 0)
        if isinstance(default, float):
            return float(text)
        if isinstance(default, DType):
            return DTYPES[text.removeprefix("pto.")]
    except (KeyError, ValueError):
        kind = type(default).__name__ if not isinstance(default, DType) else "type"
        raise PTOError(Diagnostic("argument", "error", f"-D {name}={text}: {text!r} is no {kind}")) from None
    return text
