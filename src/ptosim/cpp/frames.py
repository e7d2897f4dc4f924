"""Addresses of a compiled program as places in the user's files, with the calls that led there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ptosim.cpp.compiler import CppBuild, shown_file, source_of
from ptosim.cpp.cpp_source import without_comments
from ptosim.places import Location, Source, called

_INTRINSIC = re.compile(r"\b(?:T[A-Z][A-Z0-9_]+|M(?:GATHER|SCATTER)|[a-z_]+_(?:flag|buf|barrier|block|sync))\b")
_UNKNOWN = ("??", "?")


class Frames:
    """Resolves addresses, each once; needs addr2line, which comes with every compiler, and gives no places without."""

    def __init__(self, executable: Path, build: CppBuild) -> None:
        self._executable = executable
        self._build = build
        self._known: dict[int, list[Location]] = {}
        self._sources: dict[str, tuple[str, Source | None] | None] = {}

    def places(self, chains: Sequence[Sequence[int]], names: Mapping[int, str] | None = None) -> list[Location | None]:
        """For each chain of addresses, innermost first, the place of the innermost in a file of the user. `names`: the
        intrinsics that chains come from, by number; of several on one line each is found by its order."""
        self._resolve(sorted({address for chain in chains for address in chain} - self._known.keys()))
        sharing: dict[tuple[str, int, str], set[int]] = {}
        for number, chain in enumerate(chains):
            if chain and (own := self._known.get(chain[0])) and names and number in names:
                sharing.setdefault((own[0].file, own[0].line, names[number]), set()).add(chain[0])
        found = list[Location | None]()
        for number, chain in enumerate(chains):
            own = [place for address in chain for place in self._known.get(address, ())]
            if own and names and number in names:
                beside = sorted(sharing.get((own[0].file, own[0].line, names[number]), ()))
                own[0] = _named(own[0], names[number], chain[0], beside)
            found.append(called(own[0], own[1:]) if own else None)
        return found

    def _resolve(self, addresses: Sequence[int]) -> None:
        tool = shutil.which("addr2line") or shutil.which("llvm-symbolizer")
        if tool is None or not addresses:
            return
        asked = "\n".join(hex(address) for address in addresses)
        command = [tool, "-e", str(self._executable), "-a", "-i", "-f"]
        text = subprocess.run(command, input=asked, capture_output=True, text=True, check=False, timeout=120).stdout
        address = 0
        lines = text.split("\n")
        index = 0
        while index < len(lines):
            line = lines[index]
            if line.startswith("0x"):
                address = int(line, 16)
                self._known[address] = []
                index += 1
                continue
            if index + 1 < len(lines) and (place := self._location(lines[index + 1])):
                self._known[address].append(place)
            index += 2

    def _location(self, text: str) -> Location | None:
        name, _, number = text.rpartition(":")
        digits = re.match(r"\d+", number)
        if not digits or name in _UNKNOWN or digits[0] == "0":
            return None
        if name not in self._sources:
            shown = shown_file(name, self._build)
            self._sources[name] = None if shown is None else (shown, source_of(name, shown, self._build))
        known = self._sources[name]
        if known is None:
            return None
        shown, source = known
        return _marked(Location(shown, int(digits[0]), 1, 1, source))


def _named(place: Location, name: str, address: int, beside: Sequence[int]) -> Location:
    """The place at the intrinsic of this name."""
    line = place.source.line(place.line) if place.source is not None else ""
    found = list(re.finditer(rf"\b{re.escape(name)}\w*", without_comments(line), re.IGNORECASE))
    if not found:
        return place
    match = found[beside.index(address)] if len(found) == len(beside) and address in beside else found[0]
    return replace(place, column=match.start() + 1, length=len(match[0]))


def _marked(place: Location) -> Location:
    """The place of a line, at the intrinsic that it names, or where the line begins."""
    line = place.source.line(place.line) if place.source is not None else ""
    plain = without_comments(line)
    found = _INTRINSIC.search(plain) or re.search(r"\S+", plain)
    return place if found is None else replace(place, column=found.start() + 1, length=len(found[0]))
