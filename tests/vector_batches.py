"""Many vector instructions in one kernel, each in a loop of its own: what is compiled besides them is compiled once."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

from ptosim import api
from vector_programs import SLOT, UB_BYTES, Array, VectorProgram, kernel_text

MOST = 16  # instructions in one kernel
FEW = 4  # in one that is run without --full


def parametrize(metafunc: pytest.Metafunc, cases: Mapping[str, Sequence[str]]) -> None:
    """All the ways to write each instruction, for tests of `texts`; a sample draws from all of them."""
    if "texts" in metafunc.fixturenames:
        made = batches(cases) if metafunc.config.getoption("--full") else spread(cases)
        metafunc.parametrize("texts", list(made))


def batches(cases: Mapping[str, Sequence[str]]) -> Iterator[Any]:
    for name, texts in cases.items():
        for first in range(0, len(texts), MOST):
            yield pytest.param(texts[first : first + MOST], id=f"{name} from {first}")


def spread(cases: Mapping[str, Sequence[str]]) -> Iterator[Any]:
    """Every text once, beside any others."""
    texts = [text for some in cases.values() for text in some]
    random.Random(len(texts)).shuffle(texts)
    for first in range(0, len(texts), FEW):
        some = texts[first : first + FEW]
        yield pytest.param(some, id="; ".join(some))


@dataclass(frozen=True)
class VectorBatch:
    """A kernel around several instructions."""

    programs: tuple[VectorProgram, ...]

    @cached_property
    def kernel(self) -> api.Kernel:
        return api.load(kernel_text(self.programs)).kernel()

    @cached_property
    def rows_at_once(self) -> int:
        return UB_BYTES // (SLOT * sum(len(made.operands) + len(made.results) for made in self.programs))

    def run(self, images: Sequence[Mapping[str, Array]], kernel: Callable[..., None]) -> Iterator[list[Array]]:
        """For each instruction its results, as VectorProgram.run gives them; of this kernel or of one made of it."""
        each = zip(self.programs, images, strict=True)
        given = np.stack([rows[slot.name] for made, rows in each for slot in made.operands], axis=1)
        out = np.full((len(given), sum(len(made.results) for made in self.programs), SLOT), 0xA5, np.uint8)
        for first in range(0, len(given), self.rows_at_once):
            rows = slice(first, first + self.rows_at_once)
            kernel(given[rows], out[rows], len(given[rows]))
        taken = iter(range(out.shape[1]))
        for made in self.programs:
            yield [np.ascontiguousarray(out[:, next(taken)]) for _ in made.results]


def tried(texts: Sequence[str], attempt: Callable[[VectorBatch], None]) -> None:
    """Attempt something with all instructions together; where that fails with each alone, to name the one at fault."""
    try:
        attempt(VectorBatch(tuple(map(VectorProgram, texts))))
    except Exception as problem:
        problem.add_note("\n".join(texts))
        for text in texts if len(texts) > 1 else ():
            tried([text], attempt)
        raise
