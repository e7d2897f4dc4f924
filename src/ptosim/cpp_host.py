"""Host programs in C++ that launch kernels: each launch is recorded by the program itself, and run on its memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ptosim.cpp.compiler import Compiler, CppBuild, compile_host, find_compiler
from ptosim.cpp.cpp_source import read_text, substituted
from ptosim.cpp.frames import Frames
from ptosim.cpp.module_text import FunctionText, KernelParameter, PlaceAliases, core_kind, module_text
from ptosim.cpp.recording import decoded
from ptosim.diagnostics import Source, error
from ptosim.language.load import TARGETS
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


class _Host:
    """A compiled host program and the folder that it shares with ptosim."""

    def __init__(self, builds: Sequence[CppBuild], compiler: Compiler, folder: Path) -> None:
        self.folder = folder
        self.build = builds[-1]
        self.program = folder / "program"
        sources = list[Path]()
        for number, build in enumerate(builds):
            shadow = folder / str(number)
            shadow.mkdir()
            text = substituted(build.path, build.text, build.include_dirs, shadow)
            sources.append(shadow / f"source{number}.cpp")
            sources[-1].write_text(f'#include <ptosim/launch.hpp>\n#line 1 "{build.path}"\n{text}', encoding="utf-8")
        compile_host(replace(self.build, auto=False), compiler, sources, self.program)

    def run(self, words: Sequence[str]) -> int:
        told_in, told_out = os.pipe()
        answer_in, answer_out = os.pipe()
        settings = {"FOLDER": str(self.folder), "OUT": str(told_out), "IN": str(answer_in)}
        environment = {**os.environ, **{f"PTOSIM_HOST_{name}": value for name, value in settings.items()}}
        process = subprocess.Popen([str(self.program), *words], env=environment, pass_fds=(told_out, answer_in))
        os.close(told_out)
        os.close(answer_in)
        try:
            with os.fdopen(told_in) as told, os.fdopen(answer_out, "wb", buffering=0) as answer:
                for line in told:
                    self._launched(line.split())
                    answer.write(b"+")
            return process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _launched(self, words: Sequence[str]) -> None:
        """Run one launch on the memory of the program."""
        name, blocks, code, *sizes = words
        folder = self.folder / name
        text = (folder / "result.txt").read_text(errors="replace")
        recording = decoded(text, folder, int(code), Frames(self.program, self.build))
        parameters = [KernelParameter(f"buffer{number}", "!pto.ptr<i8, gm>", "i8") for number in range(len(sizes))]
        places = PlaceAliases()
        function = FunctionText(name, core_kind(recording), parameters, places).text([recording])
        source = Source(
            self.build.shown, module_text(self.build.target, [function], places.aliases), is_own=True, is_recorded=True
        )
        requested = Request(self.build.target, "written")
        arrays: list[Any] = [
            np.memmap(self.folder / f"r{number}", np.uint8, "r+", shape=(int(size),))
            for number, size in enumerate(sizes)
        ]
        Module(load_source(source, requested), requested).kernel()(*arrays, grid=int(blocks))
        for array in arrays:
            array.flush()
