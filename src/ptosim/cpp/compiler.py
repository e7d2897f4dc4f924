"""The user's own C++ compiler: which one, its flags, and programs that record, kept compiled on disk."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptosim.cpp.cpp_source import spelled
from ptosim.diagnostics import Diagnostic, PTOError, error
from ptosim.native.host.cache import Compiled
from ptosim.native.host.library import kernel_cache
from ptosim.places import Location, Source

HEADERS = Path(__file__).parent / "include"
TRIED = ("g++", "clang++")
LONGEST_COMPILE = 300
"""Seconds."""
_ARCHITECTURES = {
    "a5": ("-D__NPU_ARCH__=3510", "-DPTO_NPU_ARCH_A5"),
    "a2a3": ("-D__NPU_ARCH__=2201", "-DPTO_NPU_ARCH_A2A3"),
}
_HALVES = {
    "": (),
    "vector": ("-D__DAV_VEC__", "-D__DAV_C220_VEC__"),
    "cube": ("-D__DAV_CUBE__", "-D__DAV_C220_CUBE__"),
}
_COMMON = (
    "-O0",
    "-g1",
    "-gdwarf-4",
    "-w",
    "-fno-omit-frame-pointer",
    "-fno-optimize-sibling-calls",
    "-fno-pie",
    "-pipe",
)
_MESSAGE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*)$")
_SYSTEM = ("/usr/include/", "/usr/lib/", "/usr/local/include/c++/")
MAIN = "ptosim_main.cpp"
EXPRESSION = "<kernel expression>"
"""The file that messages on the expression of a kernel are said in."""


@dataclass(frozen=True)
class Compiler:
    """A compiler by its command, and what it says its version is."""

    command: tuple[str, ...]
    version: str


@dataclass(frozen=True)
class CppBuild:
    """A build: the file, the text that it becomes, and the options."""

    path: Path
    shown: str
    """The file as the user names it."""
    text: str
    target: str
    half: str
    include_dirs: tuple[Path, ...]
    defines: tuple[tuple[str, str], ...]
    auto: bool


@dataclass(frozen=True)
class ProgramText:
    """The text of a program that records: a file as a host compiler takes it, and the kernels that are added to those
    that it launches."""

    file: str
    added: str
    shadow: Path
    """The directory of copies of included files."""


@dataclass(frozen=True)
class RecordingProgram:
    """A compiled program that records, and what it says of its kernels."""

    image: bytes
    described: str

    @property
    def kernels(self) -> list[str]:
        """The description of each kernel: its name in the first line, its parameters in the others."""
        return self.described.split("\nentry ")[1:]

    def number(self, expression: str) -> int | None:
        """The number of the kernel that an expression names, if the program has it."""
        wanted = spelled(expression)
        names = [kernel.partition("\n")[0] for kernel in self.kernels]
        plain = [re.sub(r".*\[(?:with auto )?Function = (.*)\]$", r"\1", name) for name in names]
        return next((number for number, name in enumerate(plain) if spelled(name) == wanted), None)


@cache
def _version(command: tuple[str, ...]) -> str | None:
    try:
        found = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.partition("\n")[0] if found.returncode == 0 else None


def find_compiler(wanted: str | None) -> Compiler:
    """The compiler that the caller names, or CXX, g++, clang++ in this order."""
    if sys.platform == "win32":
        raise error("argument", "kernels in C++ are compiled for Linux and macOS: on Windows use ptosim inside WSL")
    named = wanted or os.environ.get("CXX")
    candidates = [tuple(named.split())] if named else [(name,) for name in TRIED]
    for command in candidates:
        if command and shutil.which(command[0]) and (version := _version(command)):
            return Compiler(command, version)
    tried = named or ", ".join(TRIED)
    raise error("argument", f"kernels in C++ need a C++ compiler, and there is none: looked for {tried}")


@cache
def _headers() -> str:
    """A digest of all headers."""
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in HEADERS.rglob("*") if path.is_file()):
        found.update(path.read_bytes())
    return found.hexdigest()


def _flags(build: CppBuild) -> list[str]:
    standard = "-std=c++20" if re.search(r"\bPadCustom\s*<", build.text) else "-std=c++17"
    folders = [f"-I{folder}" for folder in build.include_dirs]
    defines = [f"-D{name}={value}" for name, value in build.defines]
    auto = ["-D__PTO_AUTO__"] if build.auto else []
    return [standard, *_COMMON, *_ARCHITECTURES[build.target], *_HALVES[build.half], *auto, *defines, *folders]


def compiled(build: CppBuild, compiler: Compiler, text: ProgramText) -> RecordingProgram:
    """The program of a build, compiled or found: nothing that it was made from has changed since."""
    own, shared = (_key(build, compiler, text, added) for added in (text.added, ""))
    if (kept := _kept(own)) is not None:
        return kept
    program, files = _compile(build, compiler, text)
    cache_ = kernel_cache()
    if cache_.directory is not None:
        found = Compiled(program.image, {"files": _digests(files), "described": program.described})
        for key in (own, shared):
            cache_.store(key, found)
    return program


def last_compiled(build: CppBuild, compiler: Compiler, text: ProgramText) -> RecordingProgram | None:
    """The program that was compiled last for any kernel of a build, unless what it was made from has changed since."""
    return _kept(_key(build, compiler, text, ""))


def _key(build: CppBuild, compiler: Compiler, text: ProgramText, added: str) -> str:
    copies = [path.read_text(encoding="utf-8") for path in sorted(text.shadow.iterdir())]
    return kernel_cache().key(
        what="C++",
        headers=_headers(),
        main="\0".join([text.file.replace(str(text.shadow), ""), *copies, added]),
        flags="\0".join(_flags(build)),
        compiler=f"{compiler.command} {compiler.version}",
    )


def _kept(key: str) -> RecordingProgram | None:
    kept = kernel_cache().load(key)
    if kept is None or kept.data["files"] != _digests(kept.data["files"]):
        return None
    return RecordingProgram(kept.image, kept.data["described"])


def _digests(files: Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    found = dict[str, str]()
    for name in files:
        try:
            found[name] = hashlib.blake2b(Path(name).read_bytes(), digest_size=16).hexdigest()
        except OSError:
            found[name] = ""
    return found


def _compile(build: CppBuild, compiler: Compiler, text: ProgramText) -> tuple[RecordingProgram, list[str]]:
    shadow = text.shadow
    source, program, files, recorder = (shadow / name for name in (MAIN, "program", "files.d", "recorder.o"))
    source.write_text(text.file + text.added, encoding="utf-8")
    recorder.write_bytes(_recorder(compiler, build.target))
    own = [f"-I{HEADERS}", "-iquote", str(build.path.parent), "-MD", "-MF", str(files)]
    command = [*compiler.command, *_flags(build), *own]
    linking = ["-no-pie", "-Wl,--unresolved-symbols=ignore-all"]
    try:
        _run([*command, str(source), str(recorder), "-o", str(program), *linking], build)
    finally:
        source.unlink()
        recorder.unlink()
    described = shadow / "described"
    subprocess.run([str(program), str(described)], check=True, timeout=60, stdin=subprocess.DEVNULL)
    return RecordingProgram(program.read_bytes(), "\n" + described.read_text()), _dependencies(files, shadow)


def compile_host(build: CppBuild, compiler: Compiler, files: Sequence[Path], program: Path) -> None:
    """A host program whose launches are recorded: its files, substituted already, and what they are linked with."""
    recorder = program.parent / "recorder.o"
    recorder.write_bytes(_recorder(compiler, build.target, "-DPTOSIM_HOST"))
    command = [*compiler.command, *_flags(build), f"-I{HEADERS}", "-iquote", str(build.path.parent)]
    linking = ["-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-lpthread"]
    _run([*command, *map(str, files), str(recorder), "-o", str(program), *linking], build)


@cache
def _recorder(compiler: Compiler, target: str, *more: str) -> bytes:
    """The object that every program is linked with, compiled once."""
    cache_ = kernel_cache()
    flags = ["-std=c++17", "-O2", "-fno-pie", "-fno-omit-frame-pointer", *_ARCHITECTURES[target], *more]
    key = cache_.key(
        what="C++ recorder",
        headers=_headers(),
        flags=" ".join(flags),
        compiler=f"{compiler.command} {compiler.version}",
    )
    kept = cache_.load(key) if cache_.directory is not None else None
    if kept is not None:
        return kept.image
    with tempfile.TemporaryDirectory(prefix="ptosim-") as folder:
        made = Path(folder) / "recorder.o"
        text = HEADERS / "ptosim" / "recorder.cpp"
        command = [*compiler.command, *flags, "-c", str(text), "-o", str(made)]
        found = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_COMPILE, check=False)
        if found.returncode != 0:
            problem = found.stderr.strip().partition("\n")[0]
            raise error("argument", f"{compiler.command[0]} cannot compile ptosim's recorder: {problem}")
        image = made.read_bytes()
    if cache_.directory is not None:
        cache_.store(key, Compiled(image, {}))
    return image


def _dependencies(path: Path, shadow: Path) -> list[str]:
    """The files that a program was made from, of those that may change."""
    text = path.read_text(errors="replace").replace("\\\n", " ").partition(":")[2]
    names = [name.replace("\\ ", " ") for name in re.findall(r"(?:\\ |\S)+", text)]
    own = (str(HEADERS), str(shadow), *_SYSTEM)
    return sorted({name for name in names if not name.startswith(own)})


def _run(command: Sequence[str], build: CppBuild) -> None:
    try:
        found = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=LONGEST_COMPILE, check=False,
            stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise error("limit", f"compiling {build.shown} takes longer than {LONGEST_COMPILE} s") from None
    except OSError as reason:
        raise error("argument", f"cannot run {command[0]}: {reason.strerror or reason}") from None
    if found.returncode != 0:
        raise PTOError(*_diagnostics(found.stderr, build))


def _diagnostics(text: str, build: CppBuild) -> list[Diagnostic]:
    """The errors of the compiler, at the lines of the user: errors in our own headers are moved to their use."""
    found, start = list[Diagnostic](), 0
    lines = text.split("\n")
    for number, line in enumerate(lines):
        match = _MESSAGE.match(line)
        if match is None:
            continue
        message = re.sub(r"^static assertion failed(?: due to requirement '[^']*')?: ", "", match["text"])
        if match["file"] == EXPRESSION:
            if not found:
                return [_expression(build, message)]
            continue
        place = _place(match["file"], int(match["line"]), int(match["column"] or 1), build)
        place = place or _user(lines[start:number], build) or _user(lines[number : number + 12], build)
        start = number + 1
        if place is None or place not in [known.location for known in found]:
            found.append(Diagnostic("syntax", "error", message, place))
    found = [each for each in found if "ptosim_" not in each.message] or found
    if not found:
        first = next((line for line in lines if line.strip()), "the compiler says nothing")
        found = [Diagnostic("syntax", "error", f"{build.shown} does not compile: {first.strip()}")]
    return found[:20]


def _expression(build: CppBuild, message: str) -> Diagnostic:
    if "deduce" in message or "no matches" in message or "address of overloaded" in message:
        message = "no kernel of the file has these template arguments"
    return Diagnostic("argument", "error", f"the kernel that is asked for in {build.shown} cannot be made: {message}")


def shown_file(name: str, build: CppBuild) -> str | None:
    """A file as the user knows it; None for one of ours or of the compiler's."""
    path = Path(os.path.normpath(build.path.parent / name))
    if path == build.path:
        return build.shown
    if path.is_relative_to(HEADERS) or str(path).startswith(_SYSTEM) or path.name in (MAIN, "recorder.cpp", EXPRESSION):
        return None
    folder = build.path.parent
    if path.is_relative_to(folder):
        return os.path.normpath(os.path.join(os.path.dirname(build.shown), path.relative_to(folder)))
    return str(path)


def _place(name: str, line: int, column: int, build: CppBuild) -> Location | None:
    shown = shown_file(name, build)
    if shown is None or name == EXPRESSION:
        return None
    source = source_of(name, shown, build)
    return Location(shown, line, column, 1, source)


def source_of(name: str, shown: str, build: CppBuild) -> Source | None:
    """The text of a file to quote from."""
    path = Path(os.path.normpath(build.path.parent / name))
    if path == build.path:
        return Source(shown, build.text)
    try:
        return Source(shown, path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return None


def _user(lines: Sequence[str], build: CppBuild) -> Location | None:
    """The first line of the user's own among those that a compiler says with a message."""
    for line in lines:
        found = re.match(
            r"^(?:In file included from |\s+from )?(?P<file>[^:\s][^:]*):(?P<line>\d+)(?::(?P<column>\d+))?", line
        )
        if found and (place := _place(found["file"], int(found["line"]), int(found["column"] or 1), build)):
            return place
    return None
