"""An instruction on many lanes at once, on both engines: what a formula of NumPy arrays is compared with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from golden.numbers import Array, canonical, dtype
from vector_programs import VectorProgram, dtype_of


def lanes_of(instruction: str, active: int | Array, **given: Any) -> Array:
    """The lanes of the one result, register after register."""
    (result,) = rows_of(instruction, active, **given)
    return result.reshape(-1)


def rows_of(instruction: str, active: int | Array, **given: Any) -> list[Array]:
    """The results of an instruction, a row for each register: its lanes, or the 256 bits of a mask.

    A mask operand leaves the first lanes on, so many in all registers together, or those of each register that say so.
    """
    program, images = VectorProgram(instruction), dict[str, Array]()
    rows = max(value.nbytes for value in given.values() if isinstance(value, np.ndarray)) // 256
    for operand in program.operands:
        width = operand.element.lanes
        if operand.kind == "vector":
            images[operand.name] = np.ascontiguousarray(given[operand.name]).view(np.uint8).reshape(rows, 256)
        elif operand.kind == "mask":
            first = (range(min(max(active - width * row, 0), width)) for row in range(rows))  # type: ignore[operator]
            each = first if isinstance(active, int) else [np.flatnonzero(active).tolist()] * rows
            images[operand.name] = np.stack([operand.image(lanes) for lanes in each])
        else:
            images[operand.name] = np.repeat(operand.image(given[operand.name])[np.newaxis], rows, 0)
    results, others = (program.run(images, engine=engine) for engine in ("reference", "native"))
    assert [each.tobytes() for each in results] == [each.tobytes() for each in others], "the engines differ"
    return [
        np.unpackbits(found[:, :32], axis=1, bitorder="little")
        if slot.kind == "mask"
        else found.view(dtype_of(slot.element))
        for slot, found in zip(program.results, results, strict=True)
    ]


def widened(function: Callable[..., Array], element: str) -> Callable[..., Array]:
    """A float function evaluated in double and rounded once."""

    def rounded(*inputs: Array) -> Array:
        with np.errstate(all="ignore"):
            exact = function(*(i.astype(np.float64) for i in inputs))
            if element == "bf16":
                exact = exact.astype(np.float32)
            return canonical(exact.astype(dtype(element)), element)

    return rounded
