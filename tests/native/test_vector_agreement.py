"""Compiled code and the reference engine agree, bit for bit, on every instruction on registers and masks, for every
element type, shape of mask and edge value."""

import random
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import predicate_cases
import vector_cases
from ptosim.effects.element import element
from vector_batches import VectorBatch, parametrize, tried
from vector_cases import instructions, values
from vector_programs import SLOT, Array, VectorProgram, binary, dtype_of, program

ROWS = 56
SAMPLE = 280  # ways of writing an instruction that a run without --full draws from

CASES = vector_cases.cases() | predicate_cases.cases()
TEXTS = [text for texts in CASES.values() for text in texts]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc, CASES)


def _sample() -> list[str]:
    """Each instruction at least once, repeatably."""
    chance = random.Random(20)
    once = [chance.choice(texts) for texts in CASES.values()]
    rest = [text for text in TEXTS if text not in once]
    return once + chance.sample(rest, SAMPLE - len(once))


SAMPLED = _sample()


def test_every_instruction_is_tried():
    assert set(CASES) == {op.name for op in instructions()} | predicate_cases.names()
    assert all(CASES.values())


def agree(made: VectorProgram, seed: int, ctrl: int = 0) -> None:
    """Both engines give the same bytes."""
    given = values(made, ROWS, seed)
    same(made, given, made.run(given, ctrl, engine="native"), made.run(given, ctrl, engine="reference"))


def agree_all(batch: VectorBatch, seed: int, *kernels: Callable[..., None]) -> None:
    """The reference engine and these kernels give the same bytes for every instruction."""
    given = [values(made, ROWS, seed) for made in batch.programs]
    expected = list(batch.run(given, partial(batch.kernel, engine="reference")))
    for kernel in kernels:
        for made, images, got, results in zip(batch.programs, given, batch.run(given, kernel), expected, strict=True):
            same(made, images, got, results)


def same(made: VectorProgram, given: dict[str, Array], got: list[Array], expected: list[Array]) -> None:
    for result, one, other in zip(made.results, got, expected, strict=True):
        wrong = np.flatnonzero((one != other).any(axis=1))
        if wrong.size:
            row = int(wrong[0])
            raise AssertionError(_difference(made, result, given, one, other, row))


def _difference(made, result, given, one, other, row) -> str:
    width = result.element.bytes if result.kind == "vector" else 1
    got, expected = (image[row].view(f"u{width}") for image in (one, other))
    lane = int(np.flatnonzero(got != expected)[0])
    lines = [f"{made.instruction}: row {row}, lane {lane} of %{result.name} is {got[lane]:#x}, not {expected[lane]:#x}"]
    for slot in made.operands:
        shown = given[slot.name][row].view(f"u{slot.element.bytes if slot.kind == 'vector' else 1}")
        lines.append(
            f"  %{slot.name} = {shown[:32].tobytes().hex() if slot.kind == 'mask' else [hex(v) for v in shown]}"
        )
    return "\n".join(lines)


def test_both_engines_agree(texts: list[str]):
    tried(texts, lambda batch: agree_all(batch, 1, partial(batch.kernel, engine="native")))


@given(text=st.sampled_from(SAMPLED), seed=st.integers(0, 2**32))
def test_both_engines_agree_on_other_values(text, seed):
    agree(program(text), seed)


@pytest.mark.parametrize("ctrl", [0, 1 << 59, 1 << 60, 3 << 59])
@pytest.mark.parametrize("sat", ["SAT", "NOSAT"])
def test_both_engines_agree_about_ctrl(sat, ctrl):
    words = f'rnd = "R", sat = "{sat}", part = "EVEN"'
    agree(program(f"%d = pto.vcvt %a, %m {{{words}}} : V<f32>, M<b32> -> V<f16>", sets_ctrl=True), 1, ctrl)
    words = f'sat = "{sat}", part = "P1"'
    agree(program(f"%d = pto.vcvt %a, %m {{{words}}} : V<si32>, M<b32> -> V<ui8>", sets_ctrl=True), 1, ctrl)


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["i16", "i32"]))
def test_quotients_beside_integers(seed, kind):
    """b * q and its neighbours divided by b, where a rounded quotient could be off by one."""
    made = program(binary("vdiv", kind))
    chance, dtype = np.random.default_rng(seed), dtype_of(element(kind))
    b = chance.integers(1, 1 << chance.integers(1, 8 * dtype.itemsize), (8, SLOT // dtype.itemsize))
    a = b * chance.integers(-3, 1 << chance.integers(1, 8 * dtype.itemsize), b.shape) + chance.integers(-1, 2, b.shape)
    images = {name: lanes.astype(dtype).view(np.uint8) for name, lanes in (("a", a), ("b", b))}
    images["m"] = np.tile(made.operands[2].image(None), (8, 1))
    (got,) = made.run(images, engine="native")
    (expected,) = made.run(images, engine="reference")
    assert (got == expected).all()
