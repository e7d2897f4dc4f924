"""Forms of recorded operations: how each is written, and the kinds of its operands."""

from __future__ import annotations

from dataclasses import dataclass

KIND_SIZES = {"G": 12, "T": 3, "P": 2}
"""How many values an operand has: that of a tensor, of a tile and of a pointer; others have one."""


@dataclass(frozen=True)
class OperationForm:
    """How an operation is written, and what its operands are."""

    text: str
    kinds: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, line: str) -> OperationForm:
        text, *kinds = line.split("\t")
        return cls(text, tuple(tuple(kind.split(" ")) for kind in kinds))

    @property
    def size(self) -> int:
        return sum(KIND_SIZES.get(kind[0], 1) for kind in self.kinds)
