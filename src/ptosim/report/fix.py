"""The value of `report.fix()`: the text of a kernel with its findings repaired, and its forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from ptosim.diagnostics import Finding, Source, authored, writing

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Fix:
    """A repair as far as one was found. Without one the text is as it was."""

    name: str
    """The name of the file."""
    before: str
    text: str
    verified: bool
    """The text checks clean, at the size that was given and, where the kernel has one, at a larger size, and no proof
    says otherwise."""
    notes: tuple[str, ...] = ()
    """The verification, or what is left and why."""
    left: tuple[Finding, ...] = ()
    """Findings that no edit was found for."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "left", tuple(map(authored, self.left)))

    @property
    def diff(self) -> str:
        """The difference that `patch` and `git apply` take; empty if nothing changes."""
        lines = unified_diff(_lines(self.before), _lines(self.text), self.name, self.name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    def __str__(self) -> str:
        return self.diff + "".join(f"note: {note}\n" for note in self.notes)

    def __repr__(self) -> str:
        return str(self)

    def to_json(self) -> dict[str, object]:
        return {
            "file": self.name,
            "diff": self.diff,
            "text": self.text,
            "verified": self.verified,
            "notes": list(self.notes),
            "left": [finding.to_json() for finding in self.left],
        }

    def write(self, path: str | Path) -> None:
        """Put the text where the kernel was read from, with the ends of lines that it had there."""
        file = Path(path)
        with writing(path):
            was = file.read_bytes()
            text = self.text.replace("\n", "\r\n") if b"\r\n" in was else self.text
            file.write_bytes(_MARK * was.startswith(_MARK) + text.encode())


def unchanged(source: Source, verified: bool, notes: tuple[str, ...] = (), left: Sequence[Finding] = ()) -> Fix:
    """No repair: there is nothing to mend, or nothing that an edit could."""
    return Fix(source.name, source.text, source.text, verified, notes, tuple(left))


def _lines(text: str) -> Sequence[str]:
    return text.splitlines(keepends=True)
