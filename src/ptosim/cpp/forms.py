"""Forms of recorded operations: how each is written, and the kinds of its operands."""

from __future__ import annotations

from dataclasses import dataclass

KIND_SIZES = {"G": 12, "T": 3, "P": 2}
"""The number of values of an operand: a tensor, a tile, a pointer; others have one."""


@dataclass(frozen=True)
class OperationForm:
    """The form of an operation: how it is written, and its operands."""

    text: str
    kinds: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, line: str) -> OperationForm:
        text, *kinds = line.split("\t")
        return cls(text, tuple(tuple(kind.split(" ")) for kind in kinds))

    @property
    def size(self) -> int:
        return sum(KIND_SIZES.get(kind[0], 1) for kind in self.kinds)
