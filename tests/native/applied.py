"""A lowering applied to arrays: compiled as a loop over registers' worth of lanes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from native.compiled import Bench
from ptosim.native.host.toolchain import Host
from ptosim.native.ir.context import Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import I64, Type, Value

Array = NDArray[Any]
Lowering = Callable[..., Value]  # (function, *lanes) -> lanes


def apply(
    lowering: Lowering, inputs: Sequence[tuple[Array, Type]], dtype: Any, lanes: int = 64, host: Host | None = None
) -> Array:
    """The lanes that compiled code computes from equally long arrays, each given with the scalar type of its lanes."""
    (count,) = {len(array) for array, _ in inputs}
    rounds = -(-count // lanes)
    padded = [np.concatenate([array, np.zeros(rounds * lanes - count, array.dtype)]) for array, _ in inputs]
    offsets = np.cumsum([0, *(array.nbytes for array in padded)]).tolist()
    size = np.dtype(dtype).itemsize

    def build(function: FunctionBuilder, memory: Value) -> list[Value]:
        def body(index: Value, _: list[Value]) -> list[Value]:
            loaded = [
                memory.at(offset).at(index * (lanes * array.itemsize)).load(kind.vector(lanes))
                for offset, array, (_, kind) in zip(offsets, padded, inputs, strict=False)
            ]
            memory.at(offsets[-1]).at(index * (lanes * size)).store(lowering(function, *loaded))
            return []

        function.for_loop(function.constant(I64, 0), rounds, 1, [], body)
        return []

    memory = b"".join(array.tobytes() for array in padded) + bytes(rounds * lanes * size)
    outcome = Bench(build, host=host).run(memory=memory)
    assert outcome.status is Status.DONE
    return np.frombuffer(outcome.memory[offsets[-1] :], dtype)[:count]


def assert_same_bits(got: Array, expected: Array, *operands: Array) -> None:
    """Bit equality; a failure names the first lane that differs, with its operands."""
    left, right = (array.view(f"u{array.itemsize}") for array in (got, expected))
    wrong = np.flatnonzero(left != right)
    if wrong.size:
        lane = int(wrong[0])
        context = ", ".join(f"{operand[lane]!r}" for operand in operands)
        raise AssertionError(f"{wrong.size} lanes differ; ({context}) gives {left[lane]:#x}, expected {right[lane]:#x}")
