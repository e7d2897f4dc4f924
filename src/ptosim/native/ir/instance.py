"""The running entry among those that share a function: a row of a table, as code in that function sees it.

Who shares, and what is in the table, is decided in native/build/sharing.py.
"""

from dataclasses import dataclass

from ptosim.native.ir.context import WORD_BYTES
from ptosim.native.ir.values import I64, Value


@dataclass(frozen=True, eq=False)
class Instance:
    """The entry that runs: words of a table, from the first of its row on."""

    NUMBER, SHIFT, CONSTANTS = range(3)

    table: Value
    first: Value

    @property
    def number(self) -> Value:
        """Its number among them, from 0 on."""
        return self._word(self.NUMBER)

    @property
    def shift(self) -> Value:
        """The distance of its sites from those of the first."""
        return self._word(self.SHIFT)

    def constant(self, number: int) -> Value:
        """One of the constants that differ between them."""
        return self._word(self.CONSTANTS + number)

    def _word(self, number: int) -> Value:
        return self.table.at((self.first + number) * WORD_BYTES).load(I64, WORD_BYTES)
