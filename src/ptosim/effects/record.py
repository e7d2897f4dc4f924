"""The effects record: what one instruction touches, said once for engines, sanitizer, timing and `ptosim isa`.

A record is keyed by operation name and speaks of operands by role. What depends on how an operation is written (its
dist, whether it has a post-update result) is a function of `Static`; what depends on operand values is a closed form
over `operands`, any object with the values as attributes by role: Python ints, NumPy arrays or values of the native
engine's IR (effects/geometry.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal

from ptosim.effects.element import Element
from ptosim.effects.names import Pipe, Space
from ptosim.effects.requirement import Requirement, Requirements


class Spread(StrEnum):
    """The ways in which an undefined or racy byte of an operand reaches the results."""

    NONE = "none"
    ELEMENTWISE = "element-wise"
    """Lane to lane."""
    MOVEMENT = "movement"
    """Taint moves as the bytes do."""
    REDUCTION = "reduction"
    """Every active lane of a group reaches the lanes of its result."""
    ALL_TO_ALL = "all-to-all"
    """Any byte reaches every byte."""
    USE = "use"
    """A matrix product or a fixpipe store computes with what it reads: a tainted byte is reported there, and the
    results are clean."""


def _never(static: Static) -> bool:
    return False


def _always(static: Static) -> bool:
    return True


Group = Literal["register", "block", "pair"]
"""The lanes that are reduced together: all, those of 32 bytes, or two neighbours."""


@dataclass(frozen=True)
class Taint:
    """The way of an undefined or racy byte from an operand to the results of an instruction."""

    spread: Spread
    crosses: Callable[[Static], bool] = _never
    """Whether a lane reaches lanes that are not its own: what nothing has written then spoils what something has."""
    keeps: str | None = None
    """The role of an operand whose lanes reach their own ones whatever the mask says: where it is off they stay as they
    are (element-wise), or everywhere the result is added to them (reduction)."""
    placed_by_mask: bool = False
    """A movement in which the mask decides where each lane goes, not only whether it does."""
    group: Group = "register"
    """The lanes of a group of a reduction."""
    results: int | None = None
    """The lanes of a reduction's result that a group fills; None: all there are."""

    NONE: ClassVar[Taint]
    ELEMENTWISE: ClassVar[Taint]
    MOVEMENT: ClassVar[Taint]
    CROSSING: ClassVar[Taint]
    """A movement that brings lanes to others: a gather, a permutation, a broadcast."""
    ALL_TO_ALL: ClassVar[Taint]
    USE: ClassVar[Taint]

    @staticmethod
    def elementwise(keeps: str) -> Taint:
        """Lane to lane; where the mask is off those of the operand with this role."""
        return Taint(Spread.ELEMENTWISE, keeps=keeps)

    @staticmethod
    def reduction(group: Group, results: int | None = 1, keeps: str | None = None) -> Taint:
        """Every active lane of a group reaches the lanes of its result: so many for each group, or (None) all."""
        return Taint(Spread.REDUCTION, _always, keeps, group=group, results=results)


Taint.NONE = Taint(Spread.NONE)
Taint.ELEMENTWISE = Taint(Spread.ELEMENTWISE)
Taint.MOVEMENT = Taint(Spread.MOVEMENT)
Taint.CROSSING = Taint(Spread.MOVEMENT, _always)
Taint.ALL_TO_ALL = Taint(Spread.ALL_TO_ALL, _always)
Taint.USE = Taint(Spread.USE)


@dataclass(frozen=True)
class Static:
    """The static facts of an operation."""

    words: Mapping[str, str] = field(default_factory=dict[str, str])
    integers: Mapping[str, int] = field(default_factory=dict[str, int])
    elements: Mapping[str, Element] = field(default_factory=dict[str, Element])
    """The element type of each operand and result that has one: registers, pointers, scalars."""
    mask_strides: Mapping[str, int] = field(default_factory=dict[str, int])
    """Predicate bits per lane of each mask."""
    spaces: Mapping[str, Space] = field(default_factory=dict[str, Space])
    """The memory space of each pointer."""
    present: frozenset[str] = frozenset()
    """The operands, results and unit attributes that are written."""
    target: str = "a5"
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further facts from the class of the operation: extents, positions, texts."""


Half = Literal["set", "wait", "get", "release"]
Mechanism = Literal["flag", "token", "buffer", "semaphore", "cross-block", "syncall"]


@dataclass(frozen=True)
class Signal:
    """The half of a synchronisation that an instruction is. The operands, by role, are the key that both halves
    name.
    """

    half: Half
    mechanisms: tuple[Mechanism, ...]
    """The mechanisms that it may belong to; its operands decide between two."""
    partner: str
    """The other half in the same spelling."""


Extent = tuple[Any, Any]
"""Lowest byte, and one past the highest, relative to the pointer."""

Touch = Literal["always", "active", "used"]
"""The bytes that count as accessed: all, those of active lanes, or (unmasked vector loads) those that are later
used.
"""


Reach = Literal["exact", "bound", "unknown"]
"""The meaning of an extent: its first and last byte are touched where no mask forbids it; nothing outside of it is, and
data decides what inside; or data decides everything, such as when the bytes of a stream reach memory."""


@dataclass(frozen=True)
class Access:
    """One memory access of an instruction."""

    direction: Literal["read", "write"]
    space: Space
    base: str
    """The role of the pointer."""
    extent: Callable[[Any], Extent]
    alignment: int = 1
    touch: Touch = "always"
    mask: str | None = None
    """The role of the mask that gates it."""
    map: Any = None
    """The static byte map (a mode of effects/vector_memory.py, effects/predicate.py), where there is one."""
    reach: Reach = "exact"


def no_accesses(static: Static) -> tuple[Access, ...]:
    return ()


def _none_required(static: Static) -> Requirements:
    return ()


@dataclass(frozen=True)
class Effects:
    """The record of one instruction."""

    name: str
    pipe: Pipe
    """The pipe whose queue it enters; V inside a scope, S for what the scalar unit does itself."""
    timing: str
    """The timing class that every target file prices."""
    taint: Taint = Taint.NONE
    """The way of undefined and racy bytes through it."""
    accesses: Callable[[Static], tuple[Access, ...]] = no_accesses
    requires: Callable[[Static], Requirements] = _none_required
    """The rules of its operands; of `Static` it may ask for words and the target."""
    reads: tuple[str, ...] = ()
    """Special registers read (AR, SQZN, VMS4_SR, CTRL, ...)."""
    writes: tuple[str, ...] = ()
    """Special registers written."""
    signal: Signal | None = None
    """The effect on a signal, of an instruction that synchronises."""


def required(*requirements: Requirement) -> Callable[[Static], Requirements]:
    """Requirements that hold however an operation is written."""
    return lambda static: requirements


def named(*records: Effects) -> dict[str, Effects]:
    """Records by their names."""
    return {record.name: record for record in records}


def table(pipe: Pipe, taint: Taint, classes: Mapping[str, str], *requirements: Requirement) -> dict[str, Effects]:
    """Records of instructions without memory accesses: names grouped by timing class."""
    return {
        f"pto.{name}": Effects(f"pto.{name}", pipe, timing, taint, requires=required(*requirements))
        for timing, names in classes.items()
        for name in names.split()
    }
