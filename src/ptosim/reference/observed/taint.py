"""Taint through registers: the bytes of a result that depend on tainted bytes of the operands.

Taint of a value is None while it is clean, otherwise an array of one byte per byte of its image (per bit, for a mask),
not zero where tainted. The number names the origin and is the observer's; its highest bit says that a tainted mask or
lane number has decided the value, the next one that it has crossed lanes. Data that only moves is *replayed*: the very
same function is applied to an image that is all ones where the taint is, once for each origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ptosim.effects.element import GRANULE, VECTOR_BYTES
from ptosim.effects.record import Group, Spread, Taint
from ptosim.machine.entry import Site
from ptosim.machine.observer import CROSSED, DECIDED, distinct
from ptosim.reference.memory.stream import StoreAlign
from ptosim.reference.numeric.mask import FULL, Mask

Image = NDArray[np.uint8]

MASK_WIDTH = -1
"""Stands for a mask where the bytes per lane of a register are asked for."""

GATES = frozenset(("mask", "active", "seed"))
"""Operands that say which lanes take part."""
CHOOSERS = frozenset(("index", "offsets"))
"""Operands that say where a lane comes from or goes to."""
STEERING = GATES | CHOOSERS
DATA = Mask, StoreAlign, np.ndarray
"""Operands that may be tainted."""

FILL = 0xFF
"""A tainted byte in a replay. Bits of masks, signs that are extended and halves that are kept all show it."""
PROBE = 0x44
"""A byte that makes an element of any type, two of 4 bits as well, a number that no conversion turns into zero."""


@dataclass(frozen=True, eq=False)
class Observed:
    """An operation of the kernel, as far as observing it needs to know."""

    site: Site
    function: Callable[..., Any]
    parameters: tuple[str, ...]
    taint: Taint
    result_widths: tuple[int, ...]
    """Bytes per lane of each register result; 0 for any other result."""
    operand_widths: tuple[int, ...]
    """Bytes per lane of each argument that is a register; 0 for any other argument."""
    zeroing: int | None
    """The argument, behind those of the function, that is the mask that clears inactive result lanes."""
    crosses: bool = False
    """Whether lanes reach others."""
    registers_read: tuple[str, ...] = ()
    registers_written: tuple[str, ...] = ()
    """Special registers whose values depend on data."""
    lane_maps: dict[int, list[Image]] = field(default_factory=dict[int, "list[Image]"])
    """Per argument, as far as it has been found out: for each result the bytes that each lane reaches."""
    data_seen: list[tuple[int, ...]] = field(default_factory=list["tuple[int, ...]"])
    """The arguments that are data, once that has been seen: their types do not change."""

    @property
    def uses(self) -> bool:
        """Whether reading a tainted value is using it."""
        return self.taint.spread is Spread.USE

    @property
    def has_registers(self) -> bool:
        return bool(self.registers_read or self.registers_written)

    def passed_on(self, number: int) -> int:
        """The taint of an operand with this taint after conversion."""
        return number | CROSSED if self.crosses else number

    def kept(self) -> int | None:
        """The argument whose lanes reach their own ones whatever the mask says."""
        keeps = self.taint.keeps
        return self.parameters.index(keeps) if keeps in self.parameters else None

    @property
    def clean(self) -> Any:
        """The taint of clean results."""
        return (None,) * len(self.result_widths) if len(self.result_widths) > 1 else None

    def gate(self) -> int | None:
        """The argument that says which lanes take part."""
        if self.zeroing is not None:
            return self.zeroing
        return next((place for place, role in enumerate(self.parameters) if role in GATES), None)

    def data_places(self, arguments: Arguments) -> tuple[int, ...]:
        """The arguments that may be tainted and steer nothing."""
        if not self.data_seen:
            named = enumerate(zip(self.parameters, arguments, strict=False))
            self.data_seen.append(
                tuple(place for place, (role, each) in named if role not in STEERING and isinstance(each, DATA))
            )
        return self.data_seen[0]

    def lane_width(self) -> int:
        """Bytes per lane, of the operands if they are registers."""
        return next((width for width in (*self.operand_widths, *self.result_widths) if width > 0), 1)


Taints = Sequence[Image | None]
Arguments = Sequence[Any]


# --- images -----------------------------------------------------------------------------------------------------------


def origins(images: Iterable[Image | None]) -> list[int]:
    """The numbers that occur."""
    return sorted({number for image in images if image is not None for number in distinct(image)} - {0})


def of_origin(image: Image | None, number: int) -> Image | None:
    """An image that is filled where the taint has this origin."""
    return None if image is None else np.where(image == number, np.uint8(FILL), np.uint8(0))


def image_of(value: Any) -> Image | None:
    """The bytes of a value of a replay, not zero where they are tainted."""
    if isinstance(value, StoreAlign):
        return value.pending
    if isinstance(value, Mask):
        return value.bits.astype(np.uint8)
    return cast("NDArray[Any]", value).view(np.uint8).reshape(-1) if isinstance(value, np.ndarray) else None


def merged(into: Image | None, image: Image | None, number: int) -> Image | None:
    """Add the bytes of a replay of one origin to those of the others."""
    if image is None or not np.count_nonzero(image):
        return into
    marked = np.where(image != 0, np.uint8(number), np.uint8(0))
    return marked if into is None or len(into) != len(marked) else np.maximum(into, marked)


def as_taint(observed: Observed, arguments: Arguments, taints: Taints, number: int) -> list[Any]:
    """The arguments with data replaced by the image of its taint; what gates or chooses stays what it is."""
    changed = list(arguments[: len(observed.parameters)])
    for place in observed.data_places(changed):
        argument = changed[place]
        taint = of_origin(taints[place] if place < len(taints) else None, number)
        if isinstance(argument, Mask):
            changed[place] = Mask(np.zeros(VECTOR_BYTES, np.bool_) if taint is None else taint != 0)
        elif isinstance(argument, StoreAlign):
            changed[place] = replace(argument, pending=np.zeros_like(argument.pending) if taint is None else taint)
        elif observed.operand_widths[place]:
            image = np.zeros(VECTOR_BYTES, np.uint8) if taint is None else taint
            changed[place] = image.view(argument.dtype)
    return changed


def as_tuple(results: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", results) if isinstance(results, tuple) else (results,)


# --- spreading --------------------------------------------------------------------------------------------------------


def spread(observed: Observed, arguments: Arguments, taints: Taints) -> Any:
    """The taint of the results of an instruction without memory accesses, some of whose operands are tainted."""
    images = list(_SPREAD[observed.taint.spread](observed, arguments, taints))
    gate = observed.gate()
    chosen = _chosen(observed, taints)
    if gate is not None and taints[gate] is not None:
        chosen = _largest(chosen, _gated(observed, taints[gate]))
    if chosen is not None:
        images = [
            _largest(image, chosen if width else None)
            for image, width in zip(images, observed.result_widths, strict=True)
        ]
    found = [image if image is not None and np.count_nonzero(image) else None for image in images]
    return tuple(found) if len(found) > 1 else found[0]


def _largest(image: Image | None, other: Image | None) -> Image | None:
    if image is None or other is None:
        return other if image is None else image
    return np.maximum(image, other)


def counted(observed: Observed, taints: Taints) -> int:
    """The taint of how many lanes take part: the largest of the mask's."""
    gate = observed.gate()
    taint = None if gate is None or gate >= len(taints) else taints[gate]
    largest = 0 if taint is None else int(taint[:: observed.lane_width()].max())
    return largest | DECIDED if largest else 0


def _chosen(observed: Observed, taints: Taints) -> Image | None:
    """Tainted lane numbers: any lane of the result may come from anywhere."""
    for role, taint in zip(observed.parameters, taints, strict=False):
        if role in CHOOSERS and taint is not None:
            return np.full(VECTOR_BYTES, taint.max() | DECIDED, np.uint8)
    return None


def _gated(observed: Observed, taint: Image | None) -> Image:
    """Lanes that a tainted mask has decided."""
    assert taint is not None
    moves = observed.taint.spread in (Spread.ELEMENTWISE, Spread.MOVEMENT)
    if moves and not observed.taint.placed_by_mask:
        lanes = _lanewise(taint, observed.lane_width())
        return np.repeat(np.where(lanes != 0, lanes | np.uint8(DECIDED), np.uint8(0)), observed.lane_width())
    return np.full(VECTOR_BYTES, taint.max() | DECIDED, np.uint8)


def _lanewise(image: Image, width: int) -> Image:
    """The taint of each lane: the largest of its bytes."""
    return image.reshape(-1, width).max(axis=1)


def _active(observed: Observed, arguments: Arguments, width: int) -> Image | None:
    """Per byte of a register with lanes of so many bytes, 255 where the lane takes part; None without a mask."""
    gate = observed.gate()
    if gate is None:
        return None
    argument = arguments[gate]
    lanes = argument.lanes(width) if isinstance(argument, Mask) else argument
    return None if lanes is None else np.repeat(lanes, VECTOR_BYTES // len(lanes)).astype(np.uint8) * np.uint8(255)


def _elementwise(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    widths = {width for width in (*observed.operand_widths, *observed.result_widths) if width}
    if widths == {MASK_WIDTH}:
        yield from _boolean(observed, arguments, taints)
        return
    if len(widths - {MASK_WIDTH}) > 1:
        yield from _converted(observed, arguments, taints)
        return
    width = observed.lane_width()
    union: Image | None = None
    for place, taint in enumerate(taints):
        if taint is not None and place != observed.gate():
            union = _largest(union, np.repeat(_lanewise(taint, width), width))
    active = _active(observed, arguments, width)
    if union is not None and active is not None:
        union = union & active
        kept = observed.kept()
        if kept is not None and (below := taints[kept]) is not None:
            union = union | below & ~active
    for result_width in observed.result_widths:
        yield union if result_width else None


def _boolean(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    """Masks of masks: a bit is tainted if it depends on tainted ones, which can only be 0 or 1."""
    results: list[Image | None] = [None] * len(observed.result_widths)
    for number in origins(taints):
        outcomes: list[tuple[Any, ...]] = []
        for value in (False, True):
            changed = list(arguments[: len(observed.parameters)])
            for place, taint in enumerate(taints[: len(changed)]):
                if taint is not None and isinstance(changed[place], Mask):
                    changed[place] = Mask(np.where(taint == number, value, changed[place].bits))
            outcomes.append(as_tuple(observed.function(*changed)))
        for place, (one, other) in enumerate(zip(*outcomes, strict=True)):
            results[place] = merged(results[place], (one.bits != other.bits).astype(np.uint8), number)
    yield from results


def _converted(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    """Lanes of different widths: which one comes from which is found out by trying."""
    full, given = (_with_gate(observed, arguments, full) for full in (True, False))
    for place, width in enumerate(observed.result_widths):
        image: Image | None = None
        for operand, taint in enumerate(taints[: len(observed.parameters)]):
            if taint is None or observed.operand_widths[operand] <= 0 or not width:
                continue
            reached = _probe(observed, given, operand, slice(None))[place]
            lanes = _lanewise(taint, observed.operand_widths[operand])
            for lane in np.flatnonzero(lanes):
                there = _lane_map(observed, full, operand)[place][lane] & reached
                image = merged(image, there, int(lanes[lane]))
        yield image


def _with_gate(observed: Observed, arguments: Arguments, full: bool) -> list[Any]:
    """The arguments of the function, with all lanes active or as they are, and no scalar that makes them all zero."""
    changed = list(arguments[: len(observed.parameters)])
    for place, role in enumerate(observed.parameters):
        if full and role in GATES:
            argument = changed[place]
            changed[place] = FULL[1] if isinstance(argument, Mask) else np.ones_like(argument)
        if role == "scalar":
            changed[place] = PROBE * 0x01010101
    return changed


def _lane_map(observed: Observed, arguments: Arguments, operand: int) -> list[Image]:
    """Per result, and per lane of an operand: the bytes that it reaches."""
    if operand not in observed.lane_maps:
        width = observed.operand_widths[operand]
        lanes = [slice(start, start + width) for start in range(0, VECTOR_BYTES, width)]
        tried = [_probe(observed, arguments, operand, lane) for lane in lanes]
        observed.lane_maps[operand] = [np.stack(images) for images in zip(*tried, strict=True)]
    return observed.lane_maps[operand]


def _probe(observed: Observed, arguments: Arguments, operand: int, where: slice) -> list[Image]:
    """The results that change when these bytes of one operand are not zero while those of the others are.

    One operand at a time: exp(x - m) is 1 wherever both have the same number.
    """
    outcomes: list[tuple[Any, ...]] = []
    for fill in (0, PROBE):
        changed = list(arguments)
        for place, width in enumerate(observed.operand_widths[: len(changed)]):
            if width > 0 and isinstance(changed[place], np.ndarray) and observed.parameters[place] not in GATES:
                image = np.zeros(VECTOR_BYTES, np.uint8)
                if place == operand:
                    image[where] = fill
                changed[place] = image.view(changed[place].dtype)
        outcomes.append(as_tuple(observed.function(*changed)))
    return [_difference(one, other) for one, other in zip(*outcomes, strict=True)]


def _difference(one: Any, other: Any) -> Image:
    if not isinstance(one, np.ndarray):
        return np.zeros(VECTOR_BYTES, np.uint8)
    before = cast("NDArray[Any]", one).view(np.uint8)
    after = cast("NDArray[Any]", other).view(np.uint8)
    width = cast("NDArray[Any]", one).itemsize
    changed = (before != after).reshape(-1, width).any(axis=1)
    return np.repeat(changed, width).astype(np.uint8) * np.uint8(FILL)


def _movement(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    results: list[Image | None] = [None] * len(observed.result_widths)
    data = [taint for role, taint in zip(observed.parameters, taints, strict=False) if role not in STEERING]
    for number in origins(data):
        outcome = as_tuple(observed.function(*as_taint(observed, arguments, taints, number)))
        for place, result in enumerate(outcome):
            results[place] = merged(results[place], image_of(result), observed.passed_on(number))
    for result, width in zip(results, observed.result_widths, strict=True):
        cleared = observed.zeroing is not None and width > 0 and result is not None
        active = _active(observed, arguments, width) if cleared else None
        yield result if result is None or active is None else result & active


def _reduction(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    """Active lanes reach the lanes that their group fills, in a mask each other; what is added to stays in place."""
    kept = observed.kept()
    places = [place for place, width in enumerate(observed.operand_widths) if width > 0 and place != kept]
    width = observed.operand_widths[places[0]]
    reduced: Image | None = None
    for place in places:
        reduced = _largest(reduced, taints[place])
    active = _active(observed, arguments, width)
    if reduced is not None and active is not None:
        reduced = reduced & active
    below = taints[kept] if kept is not None else None
    for result in observed.result_widths:
        image = None if reduced is None or not result else _filled(observed.taint, reduced, width, result)
        if image is not None and active is not None and result == MASK_WIDTH:
            image = image & active
        own = below if below is None or result <= 0 else np.repeat(_lanewise(below, result), result)
        yield _largest(image, own)


def _filled(taint: Taint, reduced: Image, width: int, result: int) -> Image:
    """The taint of a result with lanes of so many bytes, from that of the lanes that are reduced."""
    groups = _lanewise(reduced, _BYTES[taint.group](width))
    groups[groups != 0] |= np.uint8(CROSSED)
    if taint.results is None or result == MASK_WIDTH:
        return np.full(VECTOR_BYTES, groups.max(), np.uint8)
    lanes = np.repeat(groups, taint.results * result)
    image = np.zeros(VECTOR_BYTES, np.uint8)
    image[: len(lanes)] = lanes
    return image


_BYTES: dict[Group, Callable[[int], int]] = {
    "register": lambda width: VECTOR_BYTES,
    "block": lambda width: GRANULE,
    "pair": lambda width: 2 * width,
}
"""The bytes of a group of lanes, by those of a lane."""


def _clean(observed: Observed, arguments: Arguments, taints: Taints) -> Iterator[Image | None]:
    yield from (None for _ in observed.result_widths)


_SPREAD: dict[Spread, Callable[[Observed, Arguments, Taints], Iterator[Image | None]]] = {
    Spread.NONE: _clean,
    Spread.ELEMENTWISE: _elementwise,
    Spread.MOVEMENT: _movement,
    Spread.REDUCTION: _reduction,
    Spread.ALL_TO_ALL: _movement,
    Spread.USE: _clean,
}
