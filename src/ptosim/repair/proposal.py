"""A proposal: edits that may repair a kernel, to be carried out together. A trial decides."""

from __future__ import annotations

from dataclasses import dataclass

from ptosim.language.edits import Edit, EditWriter


@dataclass(frozen=True)
class Proposal:
    edits: tuple[Edit, ...]
    reason: str = ""
    """Said in front of the edits: why it is not a simpler one."""
    takes: frozenset[tuple[object, ...]] = frozenset()
    """The ids that it uses up: ("flag", source, destination, id), ("buffer", id), ("semaphore", id)."""

    def told(self, writer: EditWriter) -> str:
        """In words, a line for each edit."""
        return self.reason + writer.hint(self.edits)
