"""The text of a C++ kernel file: its kernels by name, and launches in a syntax that a host compiler can parse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptosim.diagnostics import error
from ptosim.places import LONGEST_FILE

_HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]+)"', re.MULTILINE)
_KERNEL = re.compile(r"__global__\b(?P<before>[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*?)*?)\b(?P<name>[A-Za-z_]\w*)\s*\(")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*$")
_HALVES = re.compile(r"\b(?:__DAV_VEC__|__DAV_CUBE__|__DAV_C220_VEC__|__DAV_C220_CUBE__|TPUSH|TPOP|TPipe)\b")
_SPELLED = {
    "half": "_Float16",
    "aclFloat16": "short unsigned int",
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short int",
    "uint16_t": "short unsigned int",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long int",
    "uint64_t": "long unsigned int",
}
"""Types as compilers for Linux say them."""
_TYPES = re.compile(rf"\b(?:std::)?({'|'.join(_SPELLED)})\b")
_INTEGERS = re.compile(r"\b(0[xX][0-9a-fA-F]+|[1-9]\d*|0)[uUlL]*\b")
_AICORE = re.compile(r"\[\s*aicore\s*\]")


@dataclass(frozen=True)
class WrittenKernel:
    """A `__global__` function as the text declares it."""

    name: str
    parameters: tuple[str, ...]
    is_template: bool


def read_text(path: Path) -> str:
    """The text of a C++ file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise error("syntax", f"{path} is not a text file in UTF-8") from None
    except OSError as reason:
        raise error("argument", f"cannot read {path}: {reason.strerror or reason}") from None
    if len(text) > LONGEST_FILE:
        raise error("limit", f"{path} is longer than {LONGEST_FILE} characters")
    return text


def without_comments(text: str) -> str:
    """The text with comments and literals blanked: every character stays where it is."""
    return _HIDDEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def kernels_in(text: str, repeated: bool = False) -> list[WrittenKernel]:
    """The kernels that a text declares, in its order, each once unless `repeated`: those with several parameter
    lists."""
    plain, found = without_comments(text), dict[object, WrittenKernel]()
    for match in _KERNEL.finditer(plain):
        start = max(plain.rfind(mark, 0, match.start()) for mark in ";}{") + 1
        end = _closing(plain, match.end() - 1)
        parameters = tuple(_parameters(plain[match.end() : end]))
        kernel = WrittenKernel(match["name"], parameters, "template" in plain[start : match.start()])
        signature = re.sub(r"\s+", "", plain[match.end() : end])
        found.setdefault((kernel.name, signature) if repeated else kernel.name, kernel)
    return list(found.values())


def _closing(text: str, start: int) -> int:
    """The end of the parenthesis that opens at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return len(text)


def _parameters(text: str) -> Iterator[str]:
    """The names in a list of parameters."""
    depth, start = 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            names = re.findall(r"[A-Za-z_]\w*", text[start:at].partition("=")[0])
            if names and names != ["void"]:
                yield names[-1]
            start = at + 1


def substituted(path: Path, text: str, folders: Sequence[Path], shadow: Path, are_known: bool = False) -> str:
    """The text as a host compiler takes it. Files that it includes and that launch as well are copied to `shadow`.
    `are_known`: the kernels that are launched can be recorded by their names."""
    return _Substitution(folders, shadow, are_known).text(path, text)


def tells_cores_apart(text: str) -> bool:
    """Whether a text asks which half of a core it is compiled for, or joins the halves."""
    return _HALVES.search(without_comments(text)) is not None


def launches(text: str) -> bool:
    """Whether a text launches a kernel."""
    return "<<<" in without_comments(text)


def spelled(expression: str) -> str:
    """A kernel's name with its template arguments, as compilers say it."""
    text = re.sub(r"\{anonymous\}::|\(anonymous namespace\)::|\b(?:::)?pto::", "", expression.strip().lstrip("&"))
    text = _TYPES.sub(lambda found: _SPELLED[found[1]], text)
    text = _INTEGERS.sub(lambda found: str(int(found[1], 0)), text)
    return re.sub(r"\s+(?=\W)|(?<=\W)\s+", "", text)


class _Substitution:
    def __init__(self, folders: Sequence[Path], shadow: Path, are_known: bool) -> None:
        self.folders = folders
        self.shadow = shadow
        self.are_known = are_known
        self.known: dict[Path, str | None] = {}

    def text(self, path: Path, text: str) -> str:
        """`[aicore]` goes, and `name<args><<<blocks, l2, stream>>>(arguments)` becomes a call; lines stay lines."""
        plain = without_comments(text)
        edits = [(found.start(), found.end(), " " * len(found[0])) for found in _AICORE.finditer(plain)]
        at = plain.find("<<<")
        while at >= 0:
            edits += self._launch(plain, text, at)
            at = plain.find("<<<", at + 3)
        for found in _INCLUDE.finditer(text):
            if plain[found.start() : found.start() + 1].strip() or plain[found.start(1) : found.end(1)].strip():
                other = self._included(path, found[2])
                if other is not None:
                    edits.append((found.start(), found.end(), f'{found[1]}"{other}"'))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _launch(self, plain: str, text: str, at: int) -> list[tuple[int, int, str]]:
        close = plain.find(">>>", at)
        start = _callee(plain, at)
        if close < 0 or start is None or not plain[close + 3 :].lstrip().startswith("("):
            return []
        callee, options = text[start:at].strip(), text[at + 3 : close]
        words = [word.strip() for word in _split(options)]
        words += ["0"] * (3 - len(words))
        lines = "\n" * text[start : close + 3].count("\n")
        function = f"[&](auto... ptosim_a) {{ {callee}(ptosim_a...); }}"
        call = f"::ptosim::launched({words[0]}, {words[1]}, {words[2]}, {function})"
        if self.are_known:
            call = f"(::ptosim::Known<(&{callee})>::added, {call})"
        return [(start, close + 3, call.replace("\n", " ") + lines)]

    def _included(self, path: Path, name: str) -> str | None:
        """The copy of an included file that cannot stay as it is."""
        for folder in (path.parent, *self.folders):
            other = folder / name
            if other.is_file():
                break
        else:
            return None
        other = other.resolve()
        if other not in self.known:
            self.known[other] = None
            text = other.read_text(encoding="utf-8-sig", errors="replace")
            new = self.text(other, text)
            if new != text:
                copy = self.shadow / f"{len(self.known)}_{other.name}"
                copy.write_text(f'#line 1 "{other}"\n{new}', encoding="utf-8")
                self.known[other] = str(copy)
        return self.known[other]


def _split(text: str) -> Iterator[str]:
    """The parts between commas that no parentheses enclose."""
    depth, start = 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth <= 0:
            yield text[start:at]
            start = at + 1


def _callee(plain: str, at: int) -> int | None:
    """The start of the name before `<<<`: a name, a macro that makes one, template arguments behind."""
    end = len(plain[:at].rstrip())
    for opening, closing in ("<>", "()"):
        if plain[end - 1 : end] == closing:
            depth = 0
            while end > 0:
                end -= 1
                depth += (plain[end] == closing) - (plain[end] == opening)
                if depth == 0:
                    break
            end = len(plain[:end].rstrip())
    found = _NAME.search(plain[:end])
    return found.start() if found else None
