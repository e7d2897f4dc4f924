"""Random programs of tiles without written order or addresses: both engines agree, in every schedule, and so does the
text that they are lowered to; a check has nothing to say."""

import random

import numpy as np
import pytest

import ptosim

ROWS, COLUMNS = 8, 64
FULL, SAMPLE, SCHEDULES = 2000, 24, 20
CHUNK = 50
LOWERED = 4
"""One of so many is tried as the text that it is lowered to."""

UNARY = "tabs tneg trelu".split()
BINARY = "tadd tsub tmul tmax tmin".split()
WITH_SCALAR = "tadds tsubs tmuls tmaxs tmins".split()
REDUCTIONS = "trowsum trowmax trowmin".split()
EXPANSIONS = "trowexpandadd trowexpandsub trowexpandmul trowexpandmax".split()
COLUMN_REDUCTIONS = "tcolsum tcolmax tcolmin".split()
COLUMN_EXPANSIONS = "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpandmin".split()
COMPARISONS = "eq lt ge".split()
ROUNDINGS = "RINT FLOOR CEIL TRUNC".split()
MASK = f"!pto.tile_buf<vec, {ROWS}x{COLUMNS}xui8>"


class Writer:
    """One program: tiles of one valid region and two element types, columns and a row that they are reduced to, a mask;
    statements in loops and branches."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.rows, self.columns = self.dice.randint(1, ROWS), self.dice.choice([1, 8, 33, 60, COLUMNS])
        self.valid = f"valid=?x{self.columns}" if self.dice.random() < 0.5 else f"valid={self.rows}x{self.columns}"
        self.tile = f"!pto.tile_buf<vec, {ROWS}x{COLUMNS}xf32, {self.valid}>"
        rows = "?" if "?" in self.valid else self.rows
        self.column = f"!pto.tile_buf<vec, {ROWS}x1xf32, valid={rows}x1, blayout=col_major>"
        self.part = f"!pto.partition_tensor_view<{self.rows}x{self.columns}xf32>"
        self.tiles = [f"%t{number}" for number in range(self.dice.randint(2, 5))]
        self.half = self.tile.replace("f32", "f16")
        self.row = f"!pto.tile_buf<vec, 1x{COLUMNS}xf32, valid=1x{self.columns}>"
        self.halves = ["%h0", "%h1"]
        self.reduced = [f"%c{number}" for number in range(2)]

    def text(self) -> str:
        valid = " valid_row = %rows" if "?" in self.valid else ""
        lines = [
            "%zero = arith.constant 0 : index",
            "%one = arith.constant 1 : index",
            f"%rows = arith.constant {self.rows} : index",
            f"%columns = arith.constant {self.columns} : index",
            "%s = arith.constant 0.5 : f32",
            *(f"{tile} = pto.alloc_tile{valid} : {self.tile}" for tile in self.tiles),
            *(f"{column} = pto.alloc_tile{valid} : {self.column}" for column in self.reduced),
            *(f"{half} = pto.alloc_tile{valid} : {self.half}" for half in self.halves),
            f"%row = pto.alloc_tile : {self.row}",
            f"%mask = pto.alloc_tile : {MASK}",
            *(line for tile in self.tiles for line in self.load(tile)),
            *(f"pto.trowsum ins({self.tiles[0]} : {self.tile}) outs({each} : {self.column})" for each in self.reduced),
            f"pto.tcolmax ins({self.tiles[0]} : {self.tile}) outs(%row : {self.row})",
            *(self.converted(self.tiles[0], self.tile, half, self.half) for half in self.halves),
            self.compared(self.tiles[0], self.tiles[1]),
            *self.statements(self.dice.randint(2, 6), 2),
            *(line for tile in self.tiles for line in self.store(tile)),
        ]
        body = "\n    ".join(lines)
        return f"""module attributes {{pto.target_arch = "{self.dice.choice(["a5", "a5", "a2a3"])}"}} {{
  func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %n: index) {{
    {body}
    return
  }}
}}
"""

    def statements(self, count: int, depth: int) -> list[str]:
        return [line for _ in range(count) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        kind = self.dice.random()
        if depth and kind < 0.2:
            index = f"%i{self.dice.randrange(10**9)}"
            return [
                f"scf.for {index} = %zero to %n step %one {{",
                *self.statements(self.dice.randint(1, 3), depth - 1),
                "}",
            ]
        if depth and kind < 0.3:
            name = f"%is{self.dice.randrange(10**9)}"
            test = f"{name} = arith.cmpi sgt, %n, %one : index"
            return [test, f"scf.if {name} {{", *self.statements(2, depth - 1), "}"]
        tile = self.dice.choice(self.tiles)
        if kind < 0.4:
            return self.load(tile)
        if kind < 0.5:
            return self.store(tile)
        return [self.operation(tile)]

    def operation(self, dst: str) -> str:
        a, b, column = self.dice.choice(self.tiles), self.dice.choice(self.tiles), self.dice.choice(self.reduced)
        match self.dice.randrange(10):
            case 0:
                return f"pto.{self.dice.choice(UNARY)} ins({a} : {self.tile}) outs({dst} : {self.tile})"
            case 1:
                name = self.dice.choice(BINARY)
                return f"pto.{name} ins({a}, {b} : {self.tile}, {self.tile}) outs({dst} : {self.tile})"
            case 2:
                return f"pto.{self.dice.choice(WITH_SCALAR)} ins({a}, %s : {self.tile}, f32) outs({dst} : {self.tile})"
            case 3:
                return f"pto.{self.dice.choice(REDUCTIONS)} ins({a} : {self.tile}) outs({column} : {self.column})"
            case 4:
                name = self.dice.choice(EXPANSIONS)
                return f"pto.{name} ins({a}, {column} : {self.tile}, {self.column}) outs({dst} : {self.tile})"
            case 5:
                return f"pto.{self.dice.choice(COLUMN_REDUCTIONS)} ins({a} : {self.tile}) outs(%row : {self.row})"
            case 6:
                name = self.dice.choice(COLUMN_EXPANSIONS)
                return f"pto.{name} ins({a}, %row : {self.tile}, {self.row}) outs({dst} : {self.tile})"
            case 7:
                return self.compared(a, b)
            case 8:
                return f"pto.tsel ins(%mask, {a}, {b} : {MASK}, {self.tile}, {self.tile}) outs({dst} : {self.tile})"
            case _:
                return self.with_halves(dst)

    def with_halves(self, dst: str) -> str:
        """An operation on the narrower tiles, or a conversion from or to one."""
        a, b, half = (self.dice.choice(self.halves) for _ in range(3))
        match self.dice.randrange(3):
            case 0:
                name = self.dice.choice(BINARY)
                return f"pto.{name} ins({a}, {b} : {self.half}, {self.half}) outs({half} : {self.half})"
            case 1:
                return self.converted(self.dice.choice(self.tiles), self.tile, half, self.half)
            case _:
                return self.converted(half, self.half, dst, self.tile)

    def converted(self, src: str, source: str, dst: str, result: str) -> str:
        rounding = f"{{rmode = #pto<round_mode {self.dice.choice(ROUNDINGS)}>}}"
        return f"pto.tcvt ins({src} {rounding} : {source}) outs({dst} : {result})"

    def compared(self, a: str, b: str) -> str:
        mode = f"{{cmpMode = #pto<cmp {self.dice.choice(COMPARISONS)}>}}"
        return f"pto.tcmp ins({a}, {b} {mode} : {self.tile}, {self.tile}) outs(%mask : {MASK})"

    def view(self, pointer: str, slot: int) -> tuple[str, list[str]]:
        """A part of an argument: each slot has rows of its own."""
        name = f"{self.dice.randrange(10**9)}"
        start = f"%at{name} = arith.constant {slot * self.rows} : index"
        whole = f"%all{name} = arith.constant {len(self.tiles) * self.rows} : index"
        made = (
            f"%v{name} = pto.make_tensor_view {pointer}, shape = [%all{name}, %columns], strides = [%columns, %one]"
            " : !pto.tensor_view<?x?xf32>"
        )
        part = (
            f"%p{name} = pto.partition_view %v{name}, offsets = [%at{name}, %zero], sizes = [%rows, %columns]"
            f" : !pto.tensor_view<?x?xf32> -> {self.part}"
        )
        return f"%p{name}", [start, whole, made, part]

    def load(self, tile: str) -> list[str]:
        pointer = self.dice.choice(["%x", "%x", "%y"])
        view, lines = self.view(pointer, self.dice.randrange(len(self.tiles)))
        return [*lines, f"pto.tload ins({view} : {self.part}) outs({tile} : {self.tile})"]

    def store(self, tile: str) -> list[str]:
        view, lines = self.view("%y", self.dice.randrange(len(self.tiles)))
        return [*lines, f"pto.tstore ins({tile} : {self.tile}) outs({view} : {self.part})"]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        count = len(self.tiles) * self.rows * self.columns
        return np.linspace(-1, 1, count, dtype="f4"), np.linspace(1, 2, count, dtype="f4")


def holds(seed: int, schedules: int) -> None:
    writer = Writer(seed)
    source = writer.text()
    module = ptosim.load(source)
    kernel, trips = module.kernel(), random.Random(seed).randint(0, 3)
    x, expected = writer.arrays()
    kernel(x, expected, trips)
    for name, run in {
        "reference": lambda y: kernel(x, y, trips, engine="reference"),
        **(
            {"lowered": lambda y: module.lowered().kernel()(x, y, trips, engine="reference")}
            if seed % LOWERED == 0
            else {}
        ),
        **{
            f"random:{number}": lambda y, number=number: kernel(
                x, y, trips, engine="reference", schedule=f"random:{number}"
            )
            for number in range(schedules)
        },
    }.items():
        _, found = writer.arrays()
        run(found)
        assert found.tobytes() == expected.tobytes(), f"seed {seed}, {name}\n{source}"
    report = ptosim.check(kernel, *writer.arrays(), trips)
    assert not [one for one in report.findings if one.kind not in ("lint", "overlap")], f"seed {seed}\n{report}"


@pytest.mark.parametrize("chunk", range(4))
def test_a_sample_of_random_programs(chunk: int, full: bool) -> None:
    for seed in range(chunk * SAMPLE // 4, (chunk + 1) * SAMPLE // 4):
        holds(seed, SCHEDULES if full else 2)


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(FULL // CHUNK))
def test_all_other_random_programs(chunk: int) -> None:
    for seed in range(max(chunk * CHUNK, SAMPLE), (chunk + 1) * CHUNK):
        holds(seed, SCHEDULES)
