"""The file that describes a sweep, and the cases that it stands for.

tomllib keeps no positions: where something is wrong, the line is found by a scan for its table and key.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from itertools import product
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, cast

from ptosim.argument_words import AUTO, value_of
from ptosim.diagnostics import Location, PTOError, Source, error
from ptosim.fleet.case import CPP_FILES, WHATS, Case, Limits, Wanted, words_of

if TYPE_CHECKING:
    from ptosim.cpp_module import CppKernel

KEYS = ("kernels", "what", "args", "define", "expect", "rtol", "atol", "vary", "limits", "tune")
OPTIONS = ("grid", "ranks", "target", "schedule", "seed")
"""Names in [vary] that are options of a launch."""
MOST_VALUES = 1_000_000
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}


@dataclass(frozen=True)
class Tuning:
    """The search for the best values."""

    small: Mapping[str, Any] = field(default_factory=dict[str, Any])
    keep: float = 0.3


@dataclass(frozen=True)
class Spec:
    """A sweep as it was written."""

    path: Path
    text: str
    kernels: tuple[str, ...]
    what: str = "check"
    args: tuple[str, ...] = (AUTO,)
    define: Mapping[str, str] = field(default_factory=dict[str, str])
    expect: Mapping[int, str] = field(default_factory=dict[int, str])
    rtol: float = 0.0
    atol: float = 0.0
    vary: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    limits: Limits = field(default_factory=Limits)
    tuning: Tuning = field(default_factory=Tuning)
    timed: bool = False

    def wrong(self, message: str, key: str, table: str = "", hint: str | None = None) -> PTOError:
        return _wrong(self.path, self.text, message, key, table, hint)

    @property
    def size(self) -> int:
        """The number of combinations of values."""
        count = 1
        for values in self.vary.values():
            count *= len(values)
        return count

    def cases(self, only: Mapping[str, Sequence[Any]] | None = None) -> Iterator[Case]:
        """All of them, or those with other values for some names."""
        vary = {**self.vary, **(only or {})}
        for kernel in _kernels(self):
            for values in product(*vary.values()):
                yield self.case(kernel, dict(zip(vary, values, strict=True)))

    def case(self, kernel: _SweptKernel, varied: Mapping[str, Any]) -> Case:
        defines = tuple(f"{name}={_filled(self, said, varied, name, 'define')}" for name, said in self.define.items())
        filled = {index: _filled(self, said, varied, "expect") for index, said in self.expect.items()}
        expect = {index: _wanted(self, str(index), said) for index, said in filled.items()}
        case = Case(
            kernel=kernel.path,
            text="" if kernel.is_cpp else kernel.text_with(self, defines),
            what=self.what,
            words=tuple(_filled(self, word, varied, "args") for word in self.args),
            grid=_whole(self, varied.get("grid", 1), "grid", 1),
            ranks=_whole(self, varied["ranks"], "ranks", 1) if "ranks" in varied else None,
            name=kernel.name,
            defines=defines,
            target=None if "target" not in varied else str(varied["target"]),
            schedule=_filled(self, str(varied.get("schedule", "program")), varied, "schedule", "vary"),
            seed=_whole(self, varied.get("seed", 0), "seed", 0),
            varied=dict(varied),
            expect=expect,
            rtol=self.rtol,
            atol=self.atol,
            limits=self.limits,
            timed=self.timed,
        )
        return kernel.recorded(self, case) if kernel.is_cpp else case


def _filled(spec: Spec, word: str, varied: Mapping[str, Any], key: str, table: str = "") -> str:
    try:
        return word.format_map(varied)
    except (KeyError, IndexError, ValueError, AttributeError):
        known = ", ".join(varied) or "none"
        raise spec.wrong(f"'{word}' names what [vary] does not have; its names are: {known}", key, table) from None


def _whole(spec: Spec, value: Any, name: str, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise spec.wrong(f"{name} is a whole number from {least} on, not {value!r}", name, "vary")
    return value


# --- reading ----------------------------------------------------------------------------------------------------------


def read_spec(path: str | Path) -> Spec:
    """The spec of a file; of a directory, all its kernels with arguments that are made up."""
    path = Path(path)
    if path.is_dir():
        files = sorted(str(file) for file in path.rglob("*.pto"))
        if not files:
            raise error("argument", f"{path} has no .pto files")
        return Spec(path, "", tuple(files), timed=True)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise error("argument", f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}") from None
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as reason:
        match = re.search(r"at line (\d+), column (\d+)", str(reason))
        place = Location(str(path), int(match[1]), int(match[2]), source=Source(str(path), text)) if match else None
        raise PTOError(*error("syntax", str(reason).partition(" (at")[0], place).raised) from None
    return spec_of(given, path, text)


def spec_of(given: Mapping[str, Any], path: Path = Path("sweep"), text: str = "") -> Spec:
    """The spec that a table says."""
    reader = _Reader(path, text, given)
    spec = reader.spec()
    _all_is_used(spec)
    return spec


def _wrong(path: Path, text: str, message: str, key: str, table: str = "", hint: str | None = None) -> PTOError:
    place = _place(path, text, key, table)
    return error("argument", message, place, hint=hint) if place else error("argument", f"{path}: {message}", hint=hint)


def _place(path: Path, text: str, key: str, table: str) -> Location | None:
    """The line of a key: in its table, or before the first one."""
    inside = not table
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[\s*([\w.\-\"]+)\s*\]", line)
        if header:
            inside = header[1].strip('"') == table
            if inside and key == "":
                return Location(str(path), number, 1, len(line.rstrip()), source=Source(str(path), text))
            continue
        match = re.match(rf"""(\s*)["']?{re.escape(key)}["']?\s*[.=]""", line)
        if inside and key and match:
            column = len(match[1]) + 1
            return Location(str(path), number, column, len(key), source=Source(str(path), text))
        inner = re.search(rf"""^\s*{re.escape(table)}\s*=\s*\{{.*?\b{re.escape(key)}\s*=""", line) if table else None
        if inner:
            return Location(str(path), number, 1, len(table), source=Source(str(path), text))
    return None


@dataclass
class _Reader:
    """Reads a table key by key, and says what does not belong there."""

    path: Path
    text: str
    given: Mapping[str, Any]

    def wrong(self, message: str, key: str, table: str = "", hint: str | None = None) -> PTOError:
        return _wrong(self.path, self.text, message, key, table, hint)

    def spec(self) -> Spec:
        for key in self.given.keys() - {*KEYS}:
            raise self.wrong(f"'{key}' is no key of a sweep; those are: {', '.join(KEYS)}", key)
        kernels = self._strings("kernels")
        if not kernels:
            raise self.wrong('a sweep needs kernels, such as kernels = ["*.pto"]', "kernels")
        what = self.given.get("what", "check")
        if what not in WHATS:
            raise self.wrong(f"what is one of {', '.join(WHATS)}, not {what!r}", "what")
        args = self._strings("args", (AUTO,))
        define = {str(name): str(value) for name, value in self._table("define").items()}
        vary = {name: self._values(name, value) for name, value in self._table("vary").items()}
        if "schedule" in vary and what != "run":
            raise self.wrong('schedule is for what = "run"', "schedule", "vary")
        tune = self._table("tune", ("small", "keep"))
        return Spec(
            self.path,
            self.text,
            kernels,
            what,
            args,
            define,
            self._expect(what),
            self._number("rtol"),
            self._number("atol"),
            vary,
            self._limits(),
            self._tuning(tune, vary),
        )

    def _strings(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        given = self.given.get(key, default)
        values: Sequence[Any] = [given] if isinstance(given, str) else given
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
            raise self.wrong(f"{key} is a string or a list of strings", key)
        return tuple(cast("Sequence[str]", values))

    def _table(self, key: str, names: Sequence[str] = ()) -> Mapping[str, Any]:
        given = self.given.get(key, {})
        if not isinstance(given, Mapping):
            raise self.wrong(f"{key} is a table", key)
        table = cast("Mapping[str, Any]", given)
        for name in table.keys() - {*names} if names else ():
            raise self.wrong(f"'{name}' is no key of [{key}]; those are: {', '.join(names)}", name, key)
        return table

    def _number(self, key: str, table: str = "", value: Any = None) -> float:
        given = self.given.get(key, 0.0) if value is None else value
        if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < float("inf"):
            raise self.wrong(f"{key} is a number from 0 on, not {given!r}", key, table)
        return float(given)

    def _expect(self, what: str) -> dict[int, str]:
        found: dict[int, str] = {}
        for key, said in self._table("expect").items():
            if not key.isdecimal() or not isinstance(said, str):
                raise self.wrong(
                    "expect has numbers of arguments, each with FILE.py:FUNCTION or FILE.npy", key, "expect"
                )
            found[int(key)] = said
        if found and what == "prove":
            raise self.wrong('what = "prove" runs nothing, so that there is nothing to expect', "expect")
        return found

    def _limits(self) -> Limits:
        table = self._table("limits", ("seconds", "memory"))
        seconds = self._number("seconds", "limits", table.get("seconds", Limits.seconds))
        if not seconds:
            raise self.wrong("seconds is more than 0", "seconds", "limits")
        memory = table.get("memory", Limits.memory)
        if isinstance(memory, str):
            match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?B)", memory.strip(), re.IGNORECASE)
            if match is None:
                raise self.wrong(f"memory is written as 2GB, not {memory!r}", "memory", "limits")
            memory = int(float(match[1]) * _UNITS[match[2].upper()])
        if not isinstance(memory, int) or isinstance(memory, bool) or memory < 1:
            raise self.wrong(f"memory is written as 2GB, not {memory!r}", "memory", "limits")
        return Limits(seconds, memory)

    def _values(self, name: str, given: Any) -> tuple[Any, ...]:
        if isinstance(given, Mapping):
            table = cast("Mapping[str, Any]", given)
            first, count = table.get("from", 0), table.get("count")
            whole = all(isinstance(each, int) and not isinstance(each, bool) for each in (first, count))
            if table.keys() - {"from", "count"} or not whole or not 0 < cast("int", count) <= MOST_VALUES:
                raise self.wrong(f"{name} is a list, or {{ from = 0, count = 20 }}", name, "vary")
            return tuple(range(cast("int", first), cast("int", first) + cast("int", count)))
        if not isinstance(given, list) or not given:
            raise self.wrong(f"{name} is a list of values, or {{ from = 0, count = 20 }}", name, "vary")
        values = cast("list[Any]", given)
        if not all(isinstance(value, int | float | str) for value in values):
            raise self.wrong(f"the values of {name} are numbers or strings", name, "vary")
        if len({str(value) for value in values}) < len(values):
            raise self.wrong(f"{name} has a value twice", name, "vary")
        return tuple(values)

    def _tuning(self, table: Mapping[str, Any], vary: Mapping[str, Any]) -> Tuning:
        small: Any = table.get("small", {})
        if not isinstance(small, Mapping):
            raise self.wrong("small is a table, such as { n = 8 }", "small", "tune")
        names = cast("Mapping[str, Any]", small)
        for name in names.keys() - vary.keys():
            raise self.wrong(f"small has '{name}', which [vary] does not have", "small", "tune")
        keep = self._number("keep", "tune", table.get("keep", 0.3))
        if not 0 < keep <= 1:
            raise self.wrong("keep is a share between 0 and 1", "keep", "tune")
        return Tuning(dict(names), keep)


def _all_is_used(spec: Spec) -> None:
    """A name in [vary] that nothing uses is a slip of the pen."""
    texts = (*spec.args, *spec.define.values(), *spec.expect.values(), *map(str, spec.vary.get("schedule", ())))
    used = {name for text in texts for name in _names(spec, text)} | {*OPTIONS}
    for name in spec.vary:
        if name not in used:
            raise spec.wrong(f"nothing uses '{name}': say {{{name}}} in args or define, or leave it out", name, "vary")
    for text, key in ((text, "args") for text in spec.args):
        for name in _names(spec, text):
            if name not in spec.vary:
                known = ", ".join(spec.vary) or "none"
                raise spec.wrong(f"'{text}' names {{{name}}}, which [vary] does not have; its names: {known}", key)


def _names(spec: Spec, text: str) -> list[str]:
    try:
        return [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as reason:
        raise spec.wrong(f"'{text}': {reason}", "args") from None


# --- kernels and what they are to give --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SweptKernel:
    """A kernel of a sweep: path as given, name where a file has several, and text; of one in Python or C++ where it
    stands."""

    path: str
    name: str | None
    text: str | None
    script: tuple[str, str | None] | None = None

    @property
    def is_cpp(self) -> bool:
        return self.script is not None and self.script[0].endswith(CPP_FILES)

    def recorded(self, spec: Spec, case: Case) -> Case:
        """A launch of a kernel in C++ as the text that it is recorded as, with the words that it was recorded for."""
        assert self.script is not None
        try:
            kernel = _compiled(*self.script, case.defines, case.target)
            words = words_of(kernel, case)
            given = enumerate(zip(words, kernel.signature, strict=True))
            values = [value_of(word, parameter, case.seed + index) for index, (word, parameter) in given]
            text = kernel.recorded(values, case.grid).kernel.module.outline.source.text
        except PTOError as problem:
            key = "define" if case.defines else "kernels"
            raise spec.wrong(f"{self.path}: {problem.diagnostics[0].message}", key) from None
        return replace(case, text=text, words=tuple(words), target=None)

    def text_with(self, spec: Spec, defines: tuple[str, ...]) -> str:
        if self.text is not None:
            return self.text
        assert self.script is not None
        try:
            return _traced(*self.script, defines)
        except PTOError as problem:
            first = problem.diagnostics[0]
            raise spec.wrong(f"{self.path}: {first.message}", "define" if defines else "kernels") from None


@lru_cache(maxsize=256)
def _traced(path: str, named: str | None, defines: tuple[str, ...]) -> str:
    """The text that a kernel of a script is traced to. It runs the script."""
    from ptosim.ptodsl.script import script_kernel

    return script_kernel(path, named, defines).source.text


@lru_cache(maxsize=64)
def _compiled(path: str, expression: str | None, defines: tuple[str, ...], target: str | None) -> CppKernel:
    """A kernel in C++: the user's compiler compiles it once for each set of macros."""
    from ptosim.cpp_module import load_cpp

    macros = dict(define.split("=", 1) for define in defines)
    return load_cpp(path, defines=macros, target=target).kernel(expression)


def _kernels(spec: Spec) -> Iterator[_SweptKernel]:
    """All that `kernels` names."""
    base = spec.path.parent if spec.text else Path()
    found = False
    for pattern in spec.kernels:
        for path in _files(base, pattern):
            found = True
            yield from _of_file(spec, base, path)
    if not found:
        raise spec.wrong(f"there is no file {', '.join(spec.kernels)}", "kernels")


def _files(base: Path, pattern: str) -> list[str]:
    if not any(sign in pattern for sign in "*?["):
        return [pattern]
    if Path(pattern).is_absolute():
        root = Path(Path(pattern).anchor)
        return sorted(str(path) for path in root.glob(str(Path(pattern).relative_to(root))))
    return sorted(str(path.relative_to(base)) for path in base.glob(pattern))


def _of_file(spec: Spec, base: Path, path: str) -> Iterator[_SweptKernel]:
    from ptosim.api import load

    file, colon, name = path.partition(":")
    place = base / file
    if file.endswith((".py", *CPP_FILES)):
        shown = f"{place}{colon}{name}" if place.exists() else path
        yield _SweptKernel(shown, None, None, (str(place), name or None))
        return
    if not file.endswith(".pto"):
        raise spec.wrong(f"{path}: a sweep takes .pto files, and kernels in Python and C++", "kernels")
    if spec.define:
        raise spec.wrong(f"define is for kernels in Python and C++, and {path} is none", "define")
    try:
        text = place.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise spec.wrong(f"cannot read {path}: {getattr(reason, 'strerror', None) or reason}", "kernels") from None
    shown = str(place) if place.exists() else file
    if colon:
        yield _SweptKernel(shown, name, text)
        return
    try:
        names = list(load(Source(shown, text)).kernels)
    except PTOError:
        names = [""]  # its row says why
    for each in names:
        yield _SweptKernel(shown, each if len(names) > 1 else None, text)


def _wanted(spec: Spec, key: str, said: str) -> Wanted:
    file, colon, name = said.partition(":")
    base = spec.path.parent if spec.text else Path()
    try:
        return _function(base / file, name) if colon else Wanted("array", _bytes(base / file))
    except Exception as reason:
        message = f"cannot take {said}: {type(reason).__name__}: {reason}"
        raise spec.wrong(message, key, "expect") from None


@lru_cache(maxsize=256)
def _bytes(path: Path) -> bytes:
    if path.suffix != ".npy":
        raise ValueError("FILE.npy or FILE.py:FUNCTION")
    return path.read_bytes()


@lru_cache(maxsize=64)
def _function(path: Path, name: str) -> Wanted:
    """A function by value: what it imports must be where it runs."""
    cloudpickle = import_module("cloudpickle")
    made = importlib.util.spec_from_file_location(f"ptosim_expected_{path.stem}", path)
    if made is None or made.loader is None:
        raise ValueError("it is no Python file")
    module = importlib.util.module_from_spec(made)
    sys.modules[made.name] = module
    made.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)
    return Wanted("function", cloudpickle.dumps(getattr(module, name)))
