"""Kernels in C++: a file, its kernels, and what each launch of one is recorded as. The public calls take them as they
take kernels of `.pto` text."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.argument_words import AUTO, LARGEST, NULL, value_of
from ptosim.arguments import Parameter, array_bytes, scalar, unfit
from ptosim.cpp.compiler import (
    EXPRESSION,
    Compiler,
    CppBuild,
    ProgramText,
    RecordingProgram,
    compiled,
    find_compiler,
    last_compiled,
)
from ptosim.cpp.cpp_source import (
    WrittenKernel,
    kernels_in,
    launches,
    read_text,
    substituted,
    tells_cores_apart,
    without_comments,
)
from ptosim.cpp.launch_text import LaunchText, is_one_kind, launch_text
from ptosim.cpp.module_text import KernelParameter
from ptosim.cpp.reach import ArgumentReach, reached
from ptosim.cpp.recording import GivenArguments, KernelRecording, RecordingPart, record
from ptosim.cpp_answers import asking_cores, machine_answers, refuse_more_answers
from ptosim.diagnostics import Diagnostic, PTOError, Source, error
from ptosim.kernel_launch import RecordedLaunch
from ptosim.language.load import TARGETS
from ptosim.language.text.print_format import show
from ptosim.module import Kernel, Module, choice, count, load_source
from ptosim.native.host.library import Request, find_module

CORES = ("auto", "vector", "cube", "mix")
_HALVES = 2
"""Vector cores of a cluster."""
PLAIN_NUMBER = "64"
TABLES = ("index:{}:8", "arange:{}", "ones:{}")
MOST_IN_TABLE = 4096
_BYTES = ("bytes", "i8", "ui8")
"""The element of a parameter that its uses decide."""


def load_cpp(
    path: str | os.PathLike[str],
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    defines: Mapping[str, Any] | None = None,
    target: str | None = None,
    core: str = "auto",
    compiler: str | None = None,
    auto: bool = False,
) -> CppModule:
    """Read a C++ file of kernels written against the tile library. The user's own compiler compiles it when a kernel
    is asked for; PTOError says what is wrong with it.

    `include_dirs` and `defines` are as for the compiler, which is `compiler`, else CXX, g++ or clang++. `target`: "a5"
    (the default), "a2" or "a3". `core`: "vector", "cube", "mix", or "auto": both halves if the file tells them apart,
    else the kind of the tiles. `auto`: addresses and flags are not written and left to ptosim.

        kernel = ptosim.load_cpp("softmax.cpp").kernel("softmax<half, 64>")
    """
    choice("core", core, CORES)
    if target is not None and target not in TARGETS:
        raise error("argument", f"unknown target '{target}'; known: {', '.join(TARGETS)}")
    shown = os.fspath(path)
    text = read_text(Path(shown))
    build = CppBuild(
        Path(os.path.abspath(shown)), shown, text, TARGETS[target or "a5"], "",
        tuple(Path(os.path.abspath(folder)) for folder in include_dirs),
        tuple((str(name), str(value)) for name, value in (defines or {}).items()), auto,
    )  # fmt: skip
    return CppModule(build, core, find_compiler(compiler))


class CppModule:
    """A C++ file and its kernels."""

    def __init__(self, build: CppBuild, core: str, compiler: Compiler) -> None:
        self.build = build
        self.core = core
        self.compiler = compiler
        self._programs: dict[str, list[RecordingProgram]] = {}

    @property
    def target(self) -> str:
        return self.build.target

    @cached_property
    def written(self) -> Sequence[WrittenKernel]:
        return kernels_in(self.build.text)

    @property
    def kernels(self) -> Mapping[str, WrittenKernel]:
        """The `__global__` functions of the file, with the names of their parameters."""
        return {kernel.name: kernel for kernel in self.written}

    def kernel(self, expression: str | None = None) -> CppKernel:
        """The kernel that a C++ expression names; without one the only kernel that is no template."""
        shown = self.build.shown
        if expression is None:
            plain = [kernel.name for kernel in self.written if not kernel.is_template]
            if len(plain) != 1:
                names = ", ".join(f"{each.name}<...>" if each.is_template else each.name for each in self.written)
                message = f"no expression says which kernel of {shown} is meant: {names or 'it has none'}"
                raise error("argument", message)
            expression = plain[0]
        expression = expression.strip()
        if not expression or re.search(r"[;{}\n]", without_comments(expression)):
            raise error("argument", f"'{expression}' is no expression that names a kernel of {shown}")
        name = re.sub(r".*::", "", expression.partition("<")[0]).strip()
        plain_text = without_comments(self.build.text)
        if (
            name.isidentifier()
            and name not in self.kernels
            and re.search(rf"\bvoid\s+{re.escape(name)}\s*\(", plain_text)
        ):
            raise error("argument", f"'{name}' of {shown} is not __global__; only such functions are launched")
        known = [kernel for kernel in kernels_in(self.build.text, repeated=True) if kernel.name == name]
        if "<" not in expression and known and known[0].is_template:
            message = f"'{name}' of {shown} is a template: name it with its arguments, as {name}<float>"
            raise error("argument", message)
        if "<" not in expression and len(known) > 1:
            raise error("argument", f"'{name}' is ambiguous: {shown} has {len(known)} kernels of this name")
        return CppKernel(self, expression, self.kernels.get(name))

    @cached_property
    def is_mixed(self) -> bool:
        """Whether each half of the core is compiled by itself."""
        if self.core != "auto":
            return self.core == "mix"
        return tells_cores_apart(self.build.text)

    def program(self, expression: str, half: str) -> tuple[RecordingProgram, int]:
        """The compiled program that records a kernel on one kind of core, and the number of the kernel in it. A program
        has the kernels that are no templates and all that the file launches, from one compilation."""
        programs = self._programs.setdefault(half, [])
        for program in programs:
            if (number := program.number(expression)) is not None:
                return program, number
        plain = [kernel.name for kernel in self.written if not kernel.is_template]
        together = plain if expression in plain and len(plain) > 1 else [expression]
        with suppress(PTOError):  # another kernel may be wrong, or launched by a name that several have
            if len(together) > 1 or launches(self.build.text):
                return self._found(self._compiled(together, half, expression, True), half, expression)
        try:
            return self._found(self._compiled([expression], half, expression, False), half, expression)
        except PTOError as problem:
            raise PTOError(*(self._placed(each, expression) for each in problem.diagnostics)) from None

    def _placed(self, problem: Diagnostic, expression: str) -> Diagnostic:
        """A message of the compiler on a kernel itself, such as on its parameters, at the line that declares it."""
        text, name = self.build.text, re.sub(r".*::", "", expression.partition("<")[0]).strip()
        found = re.search(rf"\b{re.escape(name)}\s*\(", without_comments(text))
        if problem.location is not None or problem.kind != "syntax" or found is None:
            return problem
        return replace(problem, location=Source(self.build.shown, text).location(found.start(), len(name)))

    def _found(self, program: RecordingProgram, half: str, expression: str) -> tuple[RecordingProgram, int]:
        self._programs[half].append(program)
        number = program.number(expression)
        assert number is not None
        return program, number

    def _compiled(self, expressions: Sequence[str], half: str, wanted: str, are_known: bool) -> RecordingProgram:
        """A program with kernels, or one that was compiled before and has the kernel that is wanted."""
        build = replace(self.build, half=half)
        with tempfile.TemporaryDirectory(prefix="ptosim-") as name:
            folder = Path(name)
            text = substituted(build.path, build.text, build.include_dirs, folder, are_known)
            added = "".join(
                f"static const bool ptosim_added_{number} = "
                f"(::ptosim::add_entry(::ptosim::Runner<(&{expression})>::entry({_quoted(expression)})), true);\n"
                for number, expression in enumerate(expressions)
            )
            whole = ProgramText(
                f"#include <ptosim/launch.hpp>\n#line 1 {_quoted(build.path)}\n{text}\n",
                f"#line 1 {_quoted(EXPRESSION)}\n{added}",
                folder,
            )
            known = last_compiled(build, self.compiler, whole)
            if known is not None and known.number(wanted) is not None:
                return known
            return compiled(build, self.compiler, whole)


def _quoted(text: object) -> str:
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True)
class _Described:
    """A parameter as the compiler knows it."""

    is_pointer: bool
    size: int
    element: str


@dataclass(frozen=True)
class _Origin:
    """The C++ file that a launch was recorded from."""

    kernel: CppKernel
    given: GivenArguments
    grid: int
    works: tuple[tuple[str, int], ...]

    @property
    def source(self) -> Source:
        build = self.kernel.module.build
        return Source(build.shown, build.text)

    def edited(self, text: str) -> Kernel | None:
        """The same launch of an edited file; None where that does not compile or record."""
        module = self.kernel.module
        other = CppModule(replace(module.build, text=text), module.core, module.compiler)
        try:
            return other.kernel(self.kernel.name).recorded_as(self.given, self.grid)
        except PTOError:
            return None


class CppKernel:
    """A kernel of a C++ file. A launch of it is recorded for its blocks, scalars and arrays, and then run."""

    def __init__(self, module: CppModule, expression: str, written: WrittenKernel | None) -> None:
        self.module = module
        self.name = expression
        self._written = written
        self._recorded: dict[Any, RecordedLaunch[Kernel]] = {}
        self._programs: dict[str, tuple[RecordingProgram, int]] = {}
        program, entry = self._program("cube" if module.core == "cube" else "vector")
        self._described = _described(program.kernels[entry])

    def _program(self, half: str) -> tuple[RecordingProgram, int]:
        if half not in self._programs:
            self._programs[half] = self.module.program(self.name, half)
        return self._programs[half]

    @cached_property
    def signature(self) -> tuple[Parameter, ...]:
        """Its parameters, with the types that they have in `.pto` text."""
        return tuple(Parameter(each.name, each.type) for each in self._parameters)

    @cached_property
    def _parameters(self) -> tuple[KernelParameter, ...]:
        names = list(self._written.parameters) if self._written is not None else []
        if len(names) != len(self._described):
            names = [f"arg{index}" for index in range(len(self._described))]
        found = list[KernelParameter]()
        for name, each in zip(names, self._described, strict=True):
            element = "i8" if each.element == "bytes" else each.element
            plain = re.sub("^ui", "i", element)
            type_ = f"!pto.ptr<{element}, gm>" if each.is_pointer else plain
            found.append(KernelParameter(name, type_, element))
        return tuple(found)

    def __repr__(self) -> str:
        parameters = ", ".join(f"{parameter.name}: {parameter.type}" for parameter in self.signature)
        return f"<kernel {self.name}({parameters}) of {self.module.build.shown} for {self.module.target}>"

    def __call__(self, *args: Any, grid: int = 1, **options: Any) -> None:
        """Run the kernel; arguments and options are those of `ptosim.Kernel`, `None` is a null pointer."""
        asked = self.recorded(args, grid)
        for block, text in asked.said:
            show(block, text)
        asked.kernel(*asked.arguments, grid=grid, **options)

    def _told(self, args: Sequence[Any], grid: int) -> str:
        """A launch in words: what its recording depends on."""
        pairs = zip(self.signature, args, strict=False)
        scalars = [f"{each.name} = {value}" for each, value in pairs if not each.is_pointer]
        return ", ".join([f"grid {grid}", *scalars])

    def recorded(self, args: Sequence[Any], grid: int = 1) -> RecordedLaunch[Kernel]:
        """The kernel that a launch is recorded as, and its arguments as it takes them."""
        told = self._told(args, grid)
        given = self._given(args)
        blocks = count("grid", grid)
        shown = [
            value if not pointer else None if value is None else len(value)  # pyright: ignore[reportArgumentType]
            for value, pointer in zip(given.values, given.pointers, strict=True)
        ]
        key = (*shown, given.fixed, blocks)
        if key not in self._recorded:
            text = self._text(given, blocks)
            for index in sorted(given.fixed & text.stored):
                reason = "the array is read-only, and the kernel stores to it; pass a writable copy"
                raise unfit(index, self.signature[index], reason)
            loaded = self._loaded(text.text)
            loaded.origin = _Origin(self, given, blocks, text.works)
            found = RecordedLaunch(loaded, _passed(given), told, text.said)
            if text.reads:
                return found
            self._recorded[key] = found
        return replace(self._recorded[key], arguments=_passed(given))

    def example_arguments(
        self, seed: int = 0, grid: int = 1, scalars: Mapping[str, Any] | None = None
    ) -> tuple[Any, ...]:
        """One argument for each parameter: arrays as long as a recording reaches, plain scalars."""
        words = self.example_words([AUTO] * len(self.signature), grid, scalars or {})
        given = enumerate(zip(words, self.signature, strict=True))
        return tuple(value_of(word, parameter, seed + position) for position, (word, parameter) in given)

    def ranks_needed(self, grid: int) -> int | None:
        """It runs on one rank."""
        return None

    def example_words(
        self, words: Sequence[str], grid: int, scalars: Mapping[str, Any], ranks: int | None = None, seed: int = 0
    ) -> list[str]:
        """Words for what is left out: arrays as long as a recording reaches, plain scalars, and for arrays of integers
        that only the scalar program reads numbers with which most of the others are reached."""
        chosen = list(words)
        for index, (each, parameter) in enumerate(zip(self._described, self.signature, strict=True)):
            if not each.is_pointer and chosen[index] == AUTO:
                plain = "1.0" if parameter.element.is_float else PLAIN_NUMBER
                chosen[index] = str(scalars.get(parameter.name, plain))
        reaches, reads = self._reached(chosen, grid, {})
        numbers = [
            int(word)
            for word, each in zip(chosen, self._described, strict=True)
            if not each.is_pointer and word.isdecimal()
        ]
        length = min(MOST_IN_TABLE, math.prod(number for number in numbers if number)) + 1
        free = [
            index
            for index, (word, parameter) in enumerate(zip(chosen, self.signature, strict=True))
            if word == AUTO and parameter.is_pointer and parameter.element.is_integer and index not in reaches
        ]
        for form in TABLES if reads and free else ():
            tables = dict.fromkeys(free, form.format(length))
            with suppress(PTOError):  # numbers that lead to nowhere
                others, _ = self._reached(chosen, grid, tables)
                if len(others) >= len(reaches) and sum(each.high for each in others.values()) <= LARGEST:
                    reaches, chosen = others, [tables.get(index, word) for index, word in enumerate(chosen)]
                    break
        for index, (each, word) in enumerate(zip(self._described, chosen, strict=True)):
            if each.is_pointer and word == AUTO:
                chosen[index] = reaches[index].word if index in reaches else "zeros:1"
        return chosen

    def _reached(
        self, words: Sequence[str], grid: int, tables: Mapping[int, str]
    ) -> tuple[Mapping[int, ArgumentReach], bool]:
        """The reach of a recording into each argument, and whether it reads them; those without a word are endless."""
        values: list[NDArray[np.uint8] | int | None] = []
        for index, (each, parameter, word) in enumerate(zip(self._described, self.signature, words, strict=True)):
            if not each.is_pointer:
                values.append(_signed(scalar(index, parameter, value_of(word, parameter))))
            elif index in tables:
                values.append(array_bytes(index, parameter, value_of(tables[index], parameter, index)))
            else:
                values.append(None if word == NULL else np.zeros(0, np.uint8))
        given = GivenArguments(tuple(values), tuple(each.is_pointer for each in self._described), boundless=True)
        found = [each for part in self._by_core(given, count("grid", grid)).values() for each in part]
        return reached(found), any(each.reads for each in found)

    def recorded_as(self, given: GivenArguments, grid: int) -> Kernel:
        """The kernel that a launch is recorded as."""
        return self._loaded(self._text(given, grid).text)

    def _given(self, args: Sequence[Any]) -> GivenArguments:
        if len(args) != len(self._described):
            names = ", ".join(f"{each.name}: {each.type}" for each in self.signature)
            raise error(
                "argument", f"{self.name} takes {len(self._described)} arguments ({names}), but {len(args)} were given"
            )
        values = list[NDArray[np.uint8] | int | None]()
        for index, (each, parameter, value) in enumerate(zip(self._described, self.signature, args, strict=True)):
            if not each.is_pointer:
                if value is None:
                    raise unfit(index, parameter, "a number is expected, not None")
                values.append(_signed(scalar(index, parameter, value)))
            elif value is None:
                values.append(None)
            elif each.element in _BYTES:
                values.append(_raw(index, parameter, _writable(value)))
            else:
                values.append(array_bytes(index, parameter, _writable(value)))
        fixed = frozenset(index for index, value in enumerate(args) if _is_fixed(value))
        return GivenArguments(tuple(values), tuple(each.is_pointer for each in self._described), fixed=fixed)

    def _loaded(self, text: str) -> Kernel:
        build = self.module.build
        source = Source(build.shown, text, is_own=True, is_recorded=True)
        requested = Request(build.target, "auto" if build.auto else "written")
        return Module(find_module(source, requested) or load_source(source, requested), requested).kernel()

    def _text(self, given: GivenArguments, grid: int) -> LaunchText:
        """The text that a launch is recorded as."""
        name = re.sub(r"\W+", "_", self.name.partition("<")[0].rpartition(":")[2] or "kernel")
        build = self.module.build
        return launch_text(name, build.target, build.shown, self._parameters, self._by_core(given, grid))

    def _by_core(self, given: GivenArguments, grid: int) -> dict[str, list[KernelRecording]]:
        """The recordings for each kind of core. A kernel that goes the same way on both, in a file that tells them
        apart elsewhere, runs on the kind of its tiles."""
        if self.module.is_mixed:
            cores = [("cube", 0, 1), *(("vector", number, _HALVES) for number in range(_HALVES))]
            cube, *vector = found = self._recordings(cores, given, grid)
            if not self._is_one_kind(found):
                return {"cube": [cube], "vector": vector}
        half = "cube" if self.module.core == "cube" else "vector"
        return {half: self._recordings([(half, 0, 1)], given, grid)}

    def _is_one_kind(self, found: Sequence[KernelRecording]) -> bool:
        return self.module.core == "auto" and len(found) > 1 and is_one_kind(found[0], found[1:])

    def _recordings(
        self, cores: Sequence[tuple[str, int, int]], given: GivenArguments, grid: int
    ) -> list[KernelRecording]:
        """The instructions that the scalar programs of a cluster issue; results of the machine are computed as they ask
        for them. `cores`: the kind of each, its number among those of its kind, and how many these are."""
        programs = [(*self._program(half), replace(self.module.build, half=half)) for half, _, _ in cores]
        parts = [
            RecordingPart(range(grid), grid, number, many, entry)
            for (_, number, many), (_, entry, _) in zip(cores, programs, strict=True)
        ]
        found = [record(program, build, given, part) for (program, _, build), part in zip(programs, parts, strict=True)]
        while any(each.asks for each in found) and not self._is_one_kind(found):
            for index, answer in self._answers(found, given, list(dict.fromkeys(half for half, _, _ in cores))).items():
                part = parts[index] = replace(parts[index], answers=(*parts[index].answers, answer))
                refuse_more_answers(len(part.answers), found[index])
                program, _, build = programs[index]
                found[index] = record(program, build, given, part)
        pairs = zip(found, parts, strict=True)
        return [replace(each, reads=each.reads or bool(part.answers)) for each, part in pairs]

    def _answers(
        self, found: Sequence[KernelRecording], given: GivenArguments, halves: Sequence[str]
    ) -> dict[int, int]:
        """The values that scalar programs of a cluster ask for at the end of their recordings, in a run of all that is
        recorded so far. Of several the run may give some: the others wait for what comes behind these."""
        asking = asking_cores(found)
        if given.boundless:
            return dict.fromkeys(asking, 0)
        arrays = [value.copy() if isinstance(value, np.ndarray) else value for value in _passed(given)]
        return machine_answers(found, asking, halves, self.module.build, self._parameters, arrays)


def _described(kernel: str) -> tuple[_Described, ...]:
    """The parameters of a kernel."""
    found = list[_Described]()
    for line in kernel.split("\n")[1:]:
        word, _, rest = line.partition(" ")
        if word == "parameter":
            kind, size, element = rest.split(" ", 2)
            found.append(_Described(kind == "pointer", int(size), element))
    return tuple(found)


def _signed(bits: int) -> int:
    bits &= (1 << 64) - 1
    return bits - (1 << 64) if bits >> 63 else bits


def _passed(given: GivenArguments) -> tuple[NDArray[np.uint8] | int, ...]:
    """The arguments of the recorded kernel: no operation of it goes to a null pointer."""
    return tuple(np.zeros(0, np.uint8) if value is None else value for value in given.values)


def _is_fixed(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not cast("Any", value).flags.writeable


def _writable(value: Any) -> Any:
    """The array, or for one that is read-only a copy: where the kernel stores to it is known later."""
    return value.copy() if _is_fixed(value) else value


def _raw(index: int, parameter: Parameter, value: Any) -> NDArray[np.uint8]:
    """The bytes of an array of any type."""
    as_bytes = replace(parameter, type="!pto.ptr<i8, gm>")
    array: Any = value
    if isinstance(value, np.ndarray) and value.flags.c_contiguous and not cast("Any", value).dtype.hasobject:
        array = cast("Any", value).reshape(-1).view(np.uint8)
    return array_bytes(index, as_bytes, array)
