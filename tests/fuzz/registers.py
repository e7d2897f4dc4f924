"""Copies between GM and UB under random settings of the loop registers, of rows, strides, padding and atomics."""

from collections.abc import Iterator
from random import Random

import numpy as np

from fuzz.case import Case

SIZE = 4096
"""Bytes of each argument: large settings leave it."""

_SMALL = (0, 1, 2, 3, 4, 7, 8)
_LARGE = (15, 64, 255, 4095, 65535, 65536, 2**21 - 1, 2**21)
_STRIDES = (0, 32, 64, 96, 128, 256, 1024, 31, 33, 48, 8192)
_FAR = (65536, 2**20, 2**21 - 32, 2**21, 2**31, 2**40 - 32, 2**40, -32, -1)


def settings(chance: Random) -> Iterator[Case]:
    """Kernels that set every register, load, and store what they loaded.

    The numbers are constants, which load judges, or arguments, which it does not know.
    """
    while True:
        element = chance.choice(("ui8", "f16", "i32", "f32"))
        known = chance.random() < 0.3
        text, numbers = _kernel(chance, element, known)
        arguments = (_bytes(chance), _bytes(chance), *(() if known else numbers))
        yield Case(f"registers for {element}, {'constants' if known else 'arguments'}", text, arguments)


def _bytes(chance: Random) -> np.ndarray:
    return np.frombuffer(bytearray(chance.randbytes(SIZE)), np.uint8)


def _count(chance: Random) -> int:
    return chance.choice(_LARGE if chance.random() < 0.1 else _SMALL)


def _stride(chance: Random) -> int:
    return chance.choice(_FAR if chance.random() < 0.1 else _STRIDES)


def _length(chance: Random) -> int:
    return chance.choice((0, 1, 31, 32, 33, 64, 96, 128, 256, 1024, 65535, 2**21 - 1))


def _kernel(chance: Random, element: str, known: bool) -> tuple[str, list[int]]:
    """The text, and the numbers that it has as constants, or else as parameters behind the arrays."""
    constants: list[int] = []

    def c(number: int) -> str:
        if number not in constants:
            constants.append(number)
        return f"%c{constants.index(number)}"

    def pair(make: object) -> str:
        assert callable(make)
        return f"{c(make(chance))}, {c(make(chance))} : i64, i64"

    gm, ub = f"!pto.ptr<{element}, gm>", f"!pto.ptr<{element}, ub>"
    rows = [c(_count(chance)), c(_length(chance))]
    padding = [c(chance.choice(_SMALL)), c(chance.choice((*_SMALL, 32, 255)))]
    atomic = chance.choice(("", "", "", "pto.set_atomic_add", "pto.set_atomic_max\n    pto.set_atomic_f32"))
    lines = [
        *(f"pto.set_loop_size_{way} {pair(_count)}" for way in ("outtoub", "ubtoout")),
        *(f"pto.set_loop{n}_stride_{way} {pair(_stride)}" for way in ("outtoub", "ubtoout") for n in (1, 2)),
        f"pto.copy_gm_to_ubuf %x, %ub, {c(0)}, {', '.join(rows)}, {', '.join(padding)}, %pad, {c(0)}, "
        f"{c(_stride(chance))}, {c(_stride(chance))} : {gm}, {ub}, i64, i64, i64, i64, i64, i1, i64, i64, i64",
        'pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]',
        'pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]',
        *atomic.split("\n"),
        f"pto.copy_ubuf_to_gm %ub, %y, {c(0)}, {', '.join(rows)}, {c(0)}, {c(_stride(chance))}, {c(_stride(chance))} "
        f": {ub}, {gm}, i64, i64, i64, i64, i64, i64",
        "pto.barrier #pto.pipe<PIPE_ALL>",
    ]
    base = c(chance.choice((0, 0, 0, 1024, 240 * 1024, 16)))
    defined = [f"%c{index} = arith.constant {number} : i64" for index, number in enumerate(constants)]
    head = [
        f"%pad = arith.constant {chance.choice(('true', 'false'))}",
        *(defined if known else []),
        f"%ub = pto.castptr {base} : i64 -> {ub}",
    ]
    parameters = [f"%x: {gm}", f"%y: {gm}", *([] if known else [f"%c{index}: i64" for index in range(len(constants))])]
    body = "\n    ".join((*head, *filter(None, lines), "return"))
    signature = f"func.func @k({', '.join(parameters)}) attributes {{pto.kernel}}"
    return f"module {{\n  {signature} {{\n    {body}\n  }}\n}}\n", constants
