"""Host programs in C++ that launch kernels: each launch is recorded by the program itself, and run on its memory."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ptosim.cpp.compiler import Compiler, CppBuild, compile_host, find_compiler
from ptosim.cpp.cpp_source import read_text, substituted, tells_cores_apart
from ptosim.cpp.frames import Frames
from ptosim.cpp.launch_text import is_one_kind, launch_text
from ptosim.cpp.module_text import KernelParameter
from ptosim.cpp.recording import KernelRecording, decoded
from ptosim.cpp_answers import asking_cores, machine_answers, refuse_more_answers
from ptosim.diagnostics import Source, error
from ptosim.language.load import TARGETS
from ptosim.language.text.print_format import show
from ptosim.module import Module, load_source
from ptosim.native.host.library import Request


def run_host(
    files: Sequence[str],
    words: Sequence[str] = (),
    include_dirs: Sequence[str] = (),
    defines: Sequence[tuple[str, str]] = (),
    target: str | None = None,
) -> int:
    """Compile a host program with its kernels, run it and give its exit code; PTOError says what a launch did wrong."""
    if target is not None and target not in TARGETS:
        raise error("argument", f"unknown target '{target}'; known: {', '.join(TARGETS)}")
    folders = tuple(Path(os.path.abspath(folder)) for folder in include_dirs)
    builds = [
        CppBuild(
            Path(os.path.abspath(file)), file, read_text(Path(file)), TARGETS[target or "a5"], "vector", folders,
            tuple(defines), False,
        )
        for file in files
    ]  # fmt: skip
    compiler = find_compiler(None)
    with tempfile.TemporaryDirectory(prefix="ptosim-") as name:
        return _Host(builds, compiler, Path(name)).run(words)


class _HostProgram:
    """A host program compiled for one kind of core. It runs in a folder that it shares with ptosim."""

    def __init__(self, builds: Sequence[CppBuild], compiler: Compiler, folder: Path, cores: int) -> None:
        self.folder = folder
        self.build = builds[-1]
        self.cores = cores
        self.program = folder / "program"
        sources = list[Path]()
        for number, build in enumerate(builds):
            shadow = folder / str(number)
            shadow.mkdir(parents=True)
            text = substituted(build.path, build.text, build.include_dirs, shadow)
            sources.append(shadow / f"source{number}.cpp")
            sources[-1].write_text(f'#include <ptosim/launch.hpp>\n#line 1 "{build.path}"\n{text}', encoding="utf-8")
        compile_host(self.build, compiler, sources, self.program)

    def start(self, words: Sequence[str], is_shown: bool) -> None:
        told_in, told_out = os.pipe()
        answer_in, answer_out = os.pipe()
        settings = {"FOLDER": self.folder, "OUT": told_out, "IN": answer_in, "HALVES": self.cores}
        environment = {**os.environ, **{f"PTOSIM_HOST_{name}": str(value) for name, value in settings.items()}}
        shown = None if is_shown else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [str(self.program), *words], env=environment, pass_fds=(told_out, answer_in), stdout=shown, stderr=shown
        )
        os.close(told_out)
        os.close(answer_in)
        self._told, self._answers = os.fdopen(told_in), os.fdopen(answer_out, "wb", buffering=0)

    def launch(self) -> list[str]:
        """The next launch in words: its name, its blocks, the code of each core, the sizes of the memory; nothing when
        the program has ended."""
        return self._told.readline().split()

    def recordings(self, words: Sequence[str]) -> list[KernelRecording]:
        frames = Frames(self.program, self.build)
        codes = words[2 : 2 + self.cores]
        return [decoded(self.folder / words[0] / str(core), int(code), frames) for core, code in enumerate(codes)]

    def memory(self, sizes: Sequence[int]) -> list[Any]:
        return [
            np.memmap(self.folder / f"r{number}", np.uint8, "r+", shape=(size,)) for number, size in enumerate(sizes)
        ]

    def go_on(self) -> None:
        self._answers.write(b"+")

    def again(self, known: Sequence[tuple[int, int]]) -> list[str]:
        """The same launch once more, with results of the machine: cores, and the next result that each asked for."""
        self._answers.write(struct.pack(f"<cq{2 * len(known)}q", b"?", len(known), *chain.from_iterable(known)))
        return self.launch()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._told.close()
        self._answers.close()


class _Host:
    """A host program. Where its kernels run on both kinds of cores it runs twice, side by side on memory of its own:
    once for each kind that its kernels are compiled for. What the second one prints is not shown."""

    def __init__(self, builds: Sequence[CppBuild], compiler: Compiler, folder: Path) -> None:
        self.build = builds[-1]
        is_mixed = any(tells_cores_apart(build.text) for build in builds)
        halves = {"vector": 2, "cube": 1} if is_mixed else {"vector": 1}
        self.programs = {
            half: _HostProgram([replace(build, half=half) for build in builds], compiler, folder / half, cores)
            for half, cores in halves.items()
        }

    def run(self, words: Sequence[str]) -> int:
        main, *others = self.programs.values()
        try:
            for program in self.programs.values():
                program.start(words, is_shown=program is main)
            while launch := main.launch():
                found = {main: launch, **{program: program.launch() for program in others}}
                self._launched(found)
                for program in self.programs.values():
                    program.go_on()
            return main.process.wait()
        finally:
            for program in self.programs.values():
                program.stop()

    def _recorded(
        self, launches: dict[_HostProgram, Sequence[str]], parameters: Sequence[KernelParameter], sizes: Sequence[int]
    ) -> dict[str, list[KernelRecording]]:
        """The recordings for each kind of core. Results of the machine are computed as scalar programs ask for them."""
        asked = 0
        while True:
            by_core = {half: program.recordings(launches[program]) for half, program in self.programs.items()}
            everyone = [(program, core) for program in self.programs.values() for core in range(program.cores)]
            is_one = len(by_core) > 1 and is_one_kind(by_core["cube"][0], by_core["vector"])
            if is_one:
                by_core = {"vector": by_core["vector"][:1]}
            order = sorted(by_core)  # a cube core comes first
            found = [each for half in order for each in by_core[half]]
            if not any(each.asks for each in found):
                return by_core
            asking, asked = asking_cores(found), asked + 1
            refuse_more_answers(asked, found[asking[0]])
            arrays = [np.array(each) for each in next(iter(self.programs.values())).memory(sizes)]
            answers = machine_answers(found, asking, order, self.build, parameters, arrays)
            cores = [(self.programs[half], core) for half in order for core in range(len(by_core[half]))]
            told = dict.fromkeys(everyone, answers[0]) if is_one else {cores[at]: each for at, each in answers.items()}
            for program in {program: None for program, _ in told}:
                known = [(core, value) for (other, core), value in told.items() if other is program]
                launches[program] = program.again(known)

    def _launched(self, launches: Mapping[_HostProgram, Sequence[str]]) -> None:
        """Run one launch on the memory of the programs."""
        if len({tuple(launch[:2]) for launch in launches.values()}) > 1:
            message = "it runs once for each half of a core, and the second time it launches other kernels"
            raise error("unsupported", f"{self.build.shown} cannot be run as a host program: {message}")
        main, *others = self.programs.values()
        name, blocks, *numbers = launches[main]
        sizes = [int(number) for number in numbers[main.cores :]]
        parameters = [KernelParameter(f"buffer{number}", "!pto.ptr<i8, gm>", "i8") for number in range(len(sizes))]
        by_core = self._recorded(dict(launches), parameters, sizes)
        found = launch_text(name, self.build.target, self.build.shown, parameters, by_core)
        for block, text in found.said:
            show(block, text)
        source = Source(self.build.shown, found.text, is_own=True, is_recorded=True)
        requested = Request(self.build.target, "written")
        arrays = main.memory(sizes)
        Module(load_source(source, requested), requested).kernel()(*arrays, grid=int(blocks))
        for program in others:
            for own, array in zip(program.memory(sizes), arrays, strict=True):
                own[:] = array
