"""Unit flags of a kernel: which of the words that products and stores of the fixpipe write about them are followed.

A store that only checks waits for a product that sets; where no product of the kernel does, it waits for none (public
kernels are written so). Raw products and stores may have the flag in their packed words: where an author has written
some, no flag of the kernel is followed.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from ptosim.effects.sync import CHECKS, SETS
from ptosim.language.micro import mad
from ptosim.language.micro.fixpipe_raw import RawStore
from ptosim.language.operation import PTOOperation
from ptosim.language.text.parser import ParsedModule

_RAW = (mad.MadRaw, mad.MadBiasRaw, mad.MadMxRaw, mad.MadMxBiasRaw, RawStore)


def unit_flag(op: Operation) -> str | None:
    """The word of a product or a store about the flag of its tile."""
    return op.word("unit_flag") if isinstance(op, PTOOperation) and "unit_flag" in op.property_roles else None


def followed_unit_flags(parsed: ParsedModule, operations: Iterable[Operation]) -> frozenset[str]:
    """The words that are followed in a kernel that executes these operations."""
    words: set[str] = set()
    for op in operations:
        if isinstance(op, _RAW) and not parsed.served(op):
            return frozenset()
        if (word := unit_flag(op)) is not None:
            words.add(word)
    return frozenset(words if SETS in words else words - {CHECKS})
