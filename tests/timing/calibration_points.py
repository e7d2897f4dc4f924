"""Published cycles of A5 vector functions: f32, rows x vector registers per row, body = loads, one instruction, store.

One-row kernels take post-updated pointers round a single loop. Kernels of more rows have two loops and plain addresses.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ptosim.timing.program import Body, ModelInstruction, ModelLoop, Path

_UNARY = "1x1 1x3 1x5 1x10 1x20 2x10 3x3 10x2 10x10 20x2 20x20".split()
_BINARY = "1x1 1x3 1x5 1x10 1x20 2x2 2x20 3x10 10x3 10x20 20x3 20x20".split()

TABLE = {
    ("vmins", "min_scalar", 1): dict(zip(_UNARY, (53, 57, 59, 64, 74, 77, 73, 119, 199, 189, 583), strict=True)),
    ("vexp", "exp", 1): dict(zip(_UNARY, (64, 69, 73, 82, 102, 101, 85, 129, 262, 199, 862), strict=True)),
    ("vadd", "add", 2): dict(zip(_BINARY, (55, 60, 62, 67, 80, 65, 118, 104, 131, 449, 211, 869), strict=True)),
}


class Point(NamedTuple):
    name: str
    rows: int
    registers: int
    program: Body
    path: Path
    cycles: int

    def __str__(self) -> str:
        return f"{self.name} {self.rows}x{self.registers}"


def points() -> Iterator[Point]:
    for (name, timing_class, loads), row in TABLE.items():
        for shape, cycles in row.items():
            rows, registers = map(int, shape.split("x"))
            program = loop_program(name, timing_class, loads, post_update=rows == 1)
            path = (registers,) if rows == 1 else (rows,) + (registers,) * rows
            yield Point(name, rows, registers, program, path, cycles)


def loop_program(name: str, timing_class: str, loads: int, post_update: bool) -> Body:
    """The body in one loop with post-updated pointers, or in two loops with plain addresses."""
    pointers = tuple(range(100, 101 + loads))  # one per load, then the store's
    updated = tuple(range(200, 201 + loads)) if post_update else ()
    registers = tuple(range(loads))
    body = (
        *(
            ModelInstruction(
                "vlds", "load", 4, (pointers[i],), (registers[i],), updates=updated[i : i + 1], line=10 + i
            )
            for i in registers
        ),
        ModelInstruction(name, timing_class, 4, registers, (50,), line=20),
        ModelInstruction("vsts", "store", 4, (50, pointers[-1]), updates=updated[-1:], line=30),
    )
    if not post_update:
        return (ModelLoop((ModelLoop(body, line=2),), line=1),)
    start, left = tuple(range(300, 301 + loads)), tuple(range(400, 401 + loads))
    return (ModelLoop(body, start, pointers, updated, left, line=1),)
