"""For every instruction on registers and masks, as its class says it is written: taint is where results can change.

What can change is found by running the instruction on registers some of whose bytes are filled in different ways, so
that nothing here knows how taint is computed. Every byte that changes must be tainted. Tainted lanes must change for
some data (a fifth of them, because there is not data enough for all), unless a tainted mask or lane number has decided
them. Compiled code runs the instruction, since it is the quicker one and agrees with the reference engine
(native/test_vector_agreement.py).
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pytest

import predicate_cases
import vector_cases
from ptosim.api import Launch
from ptosim.arguments import bind
from ptosim.effects.names import UB
from ptosim.machine.observer import CROSSED, DECIDED, Observer
from vector_batches import VectorBatch, parametrize, tried
from vector_cases import values
from vector_programs import SLOT, UB_BYTES, Array, Slot, VectorProgram

ROWS = 7  # one of each shape of a mask
VARIANTS = 8  # other data under the same mask
FILLS = 3
NUMBER = 2  # of the origin

CASES = vector_cases.cases() | predicate_cases.cases()

CROSSING = frozenset(
    "vcadd vcmax vcmin vcbmax vcbmin vcgadd vcgmax vcgmin vcpadd dhistv2 chistv2 vselr vselrv2 vdup".split()
)
"""Reductions, permutations and broadcasts of a lane; interleaving, packing and squeezing only move lanes."""


SELDOM = frozenset((("vaddcs", "c"), ("vsubcs", "c")))
"""Instructions, and the operand on which a result seldom depends: a carry that ripples through all bits of a lane."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, CASES)


@dataclass(frozen=True)
class Question:
    """What of an instruction's results depends on some bytes of one operand, for rows of operands."""

    made: VectorProgram
    place: int
    seed: int
    suspects: Array

    @property
    def operand(self) -> Slot:
        return self.made.operands[self.place]

    @cached_property
    def images(self) -> dict[str, Array]:
        return variants(self.made, self.seed)

    @cached_property
    def filled(self) -> list[dict[str, Array]]:
        """The rows with something else in the suspected bytes."""
        name, images = self.operand.name, self.images
        others = fills(self.made, images, self.operand, self.seed + 1)
        return [images | {name: np.where(self.suspects, fill, images[name])} for fill in others]


def questions(made: VectorProgram) -> Iterator[Question]:
    chance = random.Random(made.instruction)
    for place, operand in enumerate(made.operands):
        if operand.kind != "scalar":
            yield Question(made, place, chance.randrange(1 << 30), suspected(operand, chance))


@dataclass
class Probe(Observer):
    """Taints bytes of some of the operands in every row, and keeps the taint of what is stored."""

    suspects: Array  # by operand and byte
    stored: Array = field(default_factory=lambda: np.zeros(UB_BYTES, np.uint8))

    def load(self, entry: Any, site: Any, footprint: Any, by_use: bool = False) -> Any:
        if footprint.space is not UB or (not by_use and site.name not in ("pto.plds", "pto.vlds")):
            return None
        addresses = _addresses(footprint)
        hit = self.suspects[addresses // SLOT % len(self.suspects), addresses % SLOT]
        return np.where(hit, np.uint8(NUMBER), np.uint8(0)) if hit.any() else None

    def store(self, entry: Any, site: Any, footprint: Any, change: Any = None) -> None:
        if footprint.space is UB and change.taint is not None:
            self.stored[_addresses(footprint)] = change.taint


def _addresses(footprint: Any) -> Array:
    starts = np.atleast_1d(np.asarray(footprint.starts))
    return (starts[:, np.newaxis] + np.arange(footprint.width)).reshape(-1)


def tainted(batch: VectorBatch, asked: Sequence[Question]) -> Iterator[Array]:
    """For each instruction the taint of each row of results."""
    nothing = np.zeros(SLOT, np.bool_)
    suspects = [one.suspects if n == one.place else nothing for one in asked for n in range(len(one.made.operands))]

    def kernel(given: Array, out: Array, rows: int) -> None:
        probe = Probe(np.array(suspects))
        arguments = bind(batch.kernel.signature, (given, out, rows))
        batch.kernel.reference(Launch(arguments), probe)()
        first = UB_BYTES - batch.rows_at_once * out.shape[1] * SLOT
        out[:] = probe.stored[first : first + out.size].reshape(out.shape)

    for results in batch.run([one.images for one in asked], kernel):
        yield np.stack(results, axis=1)


def changed(batch: VectorBatch, asked: Sequence[Question]) -> list[Array]:
    """For each instruction which bytes of each row of results depend on the suspected bytes of an operand."""

    def run(images: Sequence[dict[str, Array]]) -> list[Array]:
        return [np.stack(results, axis=1) for results in batch.run(images, partial(batch.kernel, engine="native"))]

    before = run([one.images for one in asked])
    found = [np.zeros(rows.shape, np.bool_) for rows in before]
    for turn in range(max(len(one.filled) for one in asked)):
        after = run([one.filled[turn % len(one.filled)] for one in asked])
        found = [so_far | (new != old) for so_far, new, old in zip(found, after, before, strict=True)]
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


def test_taint_is_where_results_can_change(texts: list[str]) -> None:
    tried(texts, expect_taint)


def expect_taint(batch: VectorBatch) -> None:
    by_program = [list(questions(made)) for made in batch.programs]
    asking = [asked for asked in by_program if asked]
    batch = VectorBatch(tuple(asked[0].made for asked in asking))
    for turn in range(max(map(len, asking), default=0)):
        asked = [questions_of[turn % len(questions_of)] for questions_of in asking]
        for question, taint, change in zip(asked, tainted(batch, asked), changed(batch, asked), strict=True):
            expect(question, taint, change)


def expect(question: Question, taints: Array, changes: Array) -> None:
    made, operand = question.made, question.operand
    name = made.instruction.rpartition("pto.")[2].split()[0]
    for result, taint, change in zip(made.results, taints.swapaxes(0, 1), changes.swapaxes(0, 1), strict=True):
        where = f"%{result.name} by %{operand.name} of {made.instruction}"
        missed = np.argwhere(change & (taint == 0))
        assert not len(missed), f"row {missed[0][0]}: byte {missed[0][1]} changes untainted: {where}"
        plain = (taint != 0) & (taint & DECIDED == 0)
        if (name, operand.name) in SELDOM:
            continue
        lanes, moved = by_lane(plain, result), by_lane(change, result)
        for row, (many, few) in enumerate(zip(lanes.sum(axis=1), (lanes & moved).sum(axis=1), strict=True)):
            assert many <= 5 * few + 3, f"row {row}: {many} lanes are tainted, and {few} ever change: {where}"
        crossing = name in CROSSING and operand.name != "c"  # to which a histogram adds
        crossed = taint[plain] & CROSSED != 0
        assert crossed.all() if crossing else not crossed.any(), where
