"""For every instruction on registers and masks, as its class says it is written: taint is where results can change.

What can change is found by running the instruction on registers some of whose bytes are filled in different ways, so
that nothing here knows how taint is computed. Every byte that changes must be tainted. Tainted lanes must change for
some data (a fifth of them, because there is not data enough for all), unless a tainted mask or lane number has decided
them.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import predicate_cases
import vector_cases
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.effects.names import UB
from ptosim.machine.observer import CROSSED, DECIDED, Observer
from vector_cases import values
from vector_programs import SLOT, UB_BYTES, Array, Slot, VectorProgram, program

ROWS = 7  # one of each shape of a mask
VARIANTS = 8  # other data under the same mask
FILLS = 3
NUMBER = 2  # of the origin
SAMPLE = 260  # ways of writing an instruction that a run without --full draws from

CASES = vector_cases.cases() | predicate_cases.cases()
TEXTS = [text for texts in CASES.values() for text in texts]

CROSSING = frozenset(
    "vcadd vcmax vcmin vcbmax vcbmin vcgadd vcgmax vcgmin vcpadd dhistv2 chistv2 vselr vselrv2 vdup".split()
)
"""Reductions, permutations and broadcasts of a lane; interleaving, packing and squeezing only move lanes."""


SELDOM = frozenset((("vaddcs", "c"), ("vsubcs", "c")))
"""Instructions, and the operand on which a result seldom depends: a carry that ripples through all bits of a lane."""


def _sample() -> set[str]:
    """Each instruction at least twice, repeatably."""
    chance = random.Random(14)
    twice = {text for texts in CASES.values() for text in chance.sample(texts, min(2, len(texts)))}
    rest = [text for text in TEXTS if text not in twice]
    return twice | set(chance.sample(rest, SAMPLE - len(twice)))


SAMPLED = _sample()


@dataclass
class Probe(Observer):
    """Taints some bytes of one operand in every row, and keeps the taint of what is stored."""

    made: VectorProgram
    place: int
    suspects: Array
    stored: Array = field(default_factory=lambda: np.zeros(UB_BYTES, np.uint8))

    def load(self, entry: Any, site: Any, footprint: Any, by_use: bool = False) -> Any:
        if footprint.space is not UB or (not by_use and site.name not in ("pto.plds", "pto.vlds")):
            return None
        addresses = _addresses(footprint)
        slot, byte = addresses // SLOT, addresses % SLOT
        hit = (slot % len(self.made.operands) == self.place) & self.suspects[byte]
        return np.where(hit, np.uint8(NUMBER), np.uint8(0)) if hit.any() else None

    def store(self, entry: Any, site: Any, footprint: Any, change: Any = None) -> None:
        if footprint.space is UB and change.taint is not None:
            self.stored[_addresses(footprint)] = change.taint


def _addresses(footprint: Any) -> Array:
    starts = np.atleast_1d(np.asarray(footprint.starts))
    return (starts[:, np.newaxis] + np.arange(footprint.width)).reshape(-1)


def tainted(made: VectorProgram, images: dict[str, Array], place: int, suspects: Array) -> Array:
    """The taint of each row of results."""
    given = np.ascontiguousarray(np.stack([images[operand.name] for operand in made.operands], axis=1))
    rows, results = len(given), len(made.results)
    probe = Probe(made, place, suspects)
    arguments = bind(made.kernel.signature, (given, np.zeros((rows, results, SLOT), np.uint8), rows))
    made.kernel.reference(Launch(arguments), probe)()
    first = UB_BYTES - made.rows_at_once * results * SLOT
    return probe.stored[first : first + rows * results * SLOT].reshape(rows, results, SLOT)


def changed(made: VectorProgram, images: dict[str, Array], operand: Slot, suspects: Array, seed: int) -> Array:
    """Which bytes of each row of results depend on the suspected bytes of an operand."""
    name = operand.name
    before = np.stack(made.run(images, engine="reference"), axis=1)
    found = np.zeros(before.shape, np.bool_)
    for fill in fills(made, images, operand, seed):
        filled = np.where(suspects, fill, images[name])
        found |= np.stack(made.run(images | {name: filled}, engine="reference"), axis=1) != before
    return found


def fills(made: VectorProgram, images: dict[str, Array], operand: Slot, seed: int) -> Iterator[Array]:
    """What may stand in an operand: edge values, any bits, small numbers, and what the other operands hold."""
    shape = images[operand.name].shape
    chance, width = np.random.default_rng(seed), operand.element.bytes
    for turn in range(FILLS):
        yield np.roll(values(made, shape[0], seed + turn)[operand.name], turn, axis=0)
        yield chance.integers(0, 256, shape, np.uint8)
        yield chance.integers(0, 3 * width, (shape[0], SLOT // width)).astype(f"u{width}").view(np.uint8)
    for other in made.operands:
        if other.kind == "scalar":
            yield np.tile(images[other.name][:, :width], SLOT // width)
        else:
            yield images[other.name]


def variants(made: VectorProgram, seed: int) -> dict[str, Array]:
    """Rows in groups of one for each shape of a mask, which all groups share; in one of them scalars are 1."""
    images = values(made, ROWS * VARIANTS, seed)
    for slot in made.operands:
        if slot.kind == "scalar":
            images[slot.name][ROWS : 2 * ROWS] = np.arange(SLOT) == 0
    shapes = values(made, ROWS, seed)
    tiled = {slot.name: np.tile(shapes[slot.name], (VARIANTS, 1)) for slot in made.operands if slot.kind == "mask"}
    return images | tiled


def suspected(slot: Slot, chance: random.Random) -> Array:
    """The upper half of an operand, or lanes here and there."""
    size = SLOT if slot.kind == "vector" else 32
    width = slot.element.bytes if slot.kind == "vector" else 1
    lanes = range(size // width)
    chosen = lanes[len(lanes) // 2 :] if chance.random() < 0.5 else chance.sample(lanes, max(1, len(lanes) // 5))
    image = np.zeros(SLOT, np.bool_)
    for lane in chosen:
        image[lane * width : (lane + 1) * width] = True
    return image


def by_lane(image: Array, result: Slot) -> Array:
    """Whether any byte of a lane is set, in all variants of a row together."""
    width = result.element.bytes if result.kind == "vector" else 1
    return image.reshape(VARIANTS, ROWS, SLOT // width, width).any(axis=(0, 3))


def test_every_instruction_is_tried() -> None:
    assert set(CASES) == {op.name for op in vector_cases.instructions()} | predicate_cases.names()


@pytest.mark.parametrize(
    "text", [pytest.param(text, marks=() if text in SAMPLED else pytest.mark.full, id=text) for text in TEXTS]
)
def test_taint_is_where_results_can_change(text: str) -> None:
    made, chance = program(text), random.Random(text)
    name = text.rpartition("pto.")[2].split()[0]
    for place, operand in enumerate(made.operands):
        if operand.kind == "scalar":
            continue
        seed, suspects = chance.randrange(1 << 30), suspected(operand, chance)
        images = variants(made, seed)
        taint = tainted(made, images, place, suspects)
        change = changed(made, images, operand, suspects, seed + 1)
        for number, result in enumerate(made.results):
            where = f"%{result.name} by %{operand.name} of {text}"
            missed = np.argwhere(change[:, number] & (taint[:, number] == 0))
            assert not len(missed), f"row {missed[0][0]}: byte {missed[0][1]} changes untainted: {where}"
            plain = (taint[:, number] != 0) & (taint[:, number] & DECIDED == 0)
            if (name, operand.name) in SELDOM:
                continue
            lanes, moved = by_lane(plain, result), by_lane(change[:, number], result)
            for row, (many, few) in enumerate(zip(lanes.sum(axis=1), (lanes & moved).sum(axis=1), strict=True)):
                assert many <= 5 * few + 3, f"row {row}: {many} lanes are tainted, and {few} ever change: {where}"
            crossing = name in CROSSING and operand.name != "c"  # to which a histogram adds
            crossed = taint[:, number][plain] & CROSSED != 0
            assert crossed.all() if crossing else not crossed.any(), where
