"""What an instruction really touches: its function is called with a core that only writes accesses down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import isgenerator
from types import SimpleNamespace
from typing import Any

import numpy as np

from ptosim.effects.catalogue import effects
from ptosim.effects.element import VECTOR_BYTES, element
from ptosim.effects.names import UB, Space
from ptosim.effects.record import Access, Static
from ptosim.machine.memory import pointer
from ptosim.reference.catalogue import semantics_of
from ptosim.target.profile import load_target

GM_BASE = pointer(0, 1 << 20)
Piece = tuple[str, Space, int, int]
"""Direction, memory, first byte and one past the last."""


class Log:
    """A core whose memories are zero and forget what is written."""

    wants_lint = False

    def __init__(self, special: Mapping[str, int]) -> None:
        self.config, self.ctrl, self.scope_ctrl, self.target = dict[str, Any](), 0, 0, "a5"
        self.port = SimpleNamespace(remarks=None)
        self.machine = SimpleNamespace(
            gives_way=False, before_load=lambda *place: None, store=lambda site, space, start, width, write: write()
        )
        self.special = {"AR": 0, "SQZN": 0, "VMS4_SR": 0, **special}
        sizes = load_target("a5").memory
        self.memories = {space: np.zeros(sizes[space.value], np.uint8) for space in Space if space.value in sizes}
        self.pieces: list[Piece] = []

    def __getattr__(self, name: str) -> Any:
        """Remarks, alignment and the rest of what instructions may say."""
        return lambda *arguments, **named: None

    def _touch(self, direction: str, space: Space, starts: Any, width: int) -> None:
        self.pieces += [(direction, space, int(start), int(start) + width) for start in np.atleast_1d(starts) if width]

    def read(self, space: Space, start: int, width: int, *_: Any, **__: Any) -> Any:
        self._touch("read", space, start, width)
        return np.zeros(width, np.uint8)

    def write(
        self, space: Space, start: int, data: Any, alignment: int = 1, active: Any = None, at: Any = None
    ) -> None:
        if active is None:
            self._touch("write", space, start, len(data))
        elif active.any():
            (places,) = active.nonzero()
            self._touch("write", space, start + int(places[0]), int(places[-1] - places[0]) + 1)

    def load(self, start: int, dtype: Any) -> Any:
        return self.read(UB, start, VECTOR_BYTES).view(dtype)

    def store(self, start: int, value: Any) -> None:
        self._touch("write", UB, start, VECTOR_BYTES)

    def read_pieces(self, space: Space, starts: Any, width: int, *_: Any, **__: Any) -> Any:
        self._touch("read", space, np.asarray(starts), width)
        return np.zeros((len(starts), width), np.uint8)

    read_numbers = read_pieces

    def write_pieces(self, space: Space, starts: Any, data: Any, *_: Any, **__: Any) -> None:
        self._touch("write", space, np.asarray(starts), data.shape[1])

    def holds(self, *_: Any, **__: Any) -> bool:
        return True

    def touched(self, pointer: int, offsets: Any, width: int) -> Any:
        return np.ones(len(offsets), bool)

    def pattern(self, data: Any) -> Any:
        return data

    def converted(self, data: Any, width: int, conversion: Any) -> Any:
        return conversion(data)


@dataclass(frozen=True)
class Case:
    """An instruction with operands; `beside` are those that the record sees otherwise."""

    name: str
    operands: Mapping[str, Any]
    elements: Mapping[str, str] = field(default_factory=dict[str, str])
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    integers: Mapping[str, int] = field(default_factory=dict[str, int])
    spaces: Mapping[str, Space] = field(default_factory=dict[str, Space])
    flags: frozenset[str] = frozenset()
    special: Mapping[str, int] = field(default_factory=dict[str, int])
    beside: Mapping[str, Any] = field(default_factory=dict[str, Any])
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def static(self) -> Static:
        present = {role for role, value in self.operands.items() if value is not None}
        masks = {role: 4 for role in present if role == "mask"}
        kinds = {role: element(name) for role, name in self.elements.items()}
        present = frozenset(present | self.flags)
        return Static(self.words, self.integers, kinds, masks, self.spaces, present, facts=self.facts)

    def expected(self) -> Iterator[tuple[Access, int, int]]:
        """The accesses of the record and the addresses of their extents; of lanes all together."""
        operands = SimpleNamespace(**{**self.operands, **self.beside, **self.special})
        for access in effects()[self.name].accesses(self.static):
            low, high = access.extent(operands)
            base = self.operands[access.base]
            assert self._in_arrays(access) == int(np.max(high)) - int(np.min(low)), (self, access)
            if np.max(high) > np.min(low):
                yield access, base + int(np.min(low)), base + int(np.max(high))

    def _in_arrays(self, access: Access) -> int:
        """The bytes of an extent by the same closed form, of operands that are arrays."""
        given = {**self.operands, **self.beside, **self.special}
        words = {role: (value + 2**63) % 2**64 - 2**63 for role, value in given.items() if type(value) is int}
        arrays = {**given, **{role: np.array([value], np.int64) for role, value in words.items()}}
        low, high = access.extent(SimpleNamespace(**arrays))
        return int(np.max(high)) - int(np.min(low))

    def observed(self) -> list[Piece]:
        meaning = semantics_of(self.name)
        assert meaning is not None
        core, static = Log(self.special), self.static
        given = {"core": core, "static": static, "config": core.config, "ctrl": 0, **self.words, **self.integers}
        given |= {
            "element": next(iter(static.elements.values()), None),
            "result_element": static.elements.get("result"),
            **self.operands,
            **static.facts,
            **(meaning.bind(static) if meaning.bind else {}),
        }
        if "config" in self.operands:
            given["config"] = self.operands["config"]
        outcome = meaning.function(*(given.get(parameter) for parameter in meaning.parameters))
        if isgenerator(outcome):
            list(outcome)
        return core.pieces


def facts_of_product(name: str) -> dict[str, Any]:
    """What the operation of a product says of itself (language/micro/mad.py)."""
    start = (
        "word" if name.endswith("raw") else "accumulators" if "acc" in name else "bias" if "bias" in name else "zero"
    )
    return {"scaled": "_mx" in name, "start": start}
