"""Kernels of copies, vector scopes and synchronisation, written line by line."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from random import Random

TILE = 64
"""Elements of a tile, 256 bytes."""
TILES = 12
"""Tiles of UB that a program uses at most."""
TRIPS = ("n", "m", "k")
"""Parameters that say how often loops run; 0 is among what they may be, so each loop may run not at all."""
SWITCHES = ("p", "q")
"""Parameters that branches depend on."""


class Script:
    """Lines of a kernel, indented, with constants and names as they are needed."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.lines: list[str] = []
        self.depth = 2
        self.constants: dict[str, str] = {}
        self.parameters: dict[str, None] = {}
        self.names = 0
        self.indices: list[str] = []

    def add(self, *lines: str) -> None:
        self.lines += ["  " * self.depth + line for line in lines]

    def new(self, value: str, kind: str = "index") -> str:
        self.names += 1
        self.add(f"%t{self.names} = {value} : {kind}")
        return f"%t{self.names}"

    def constant(self, number: int) -> str:
        self.constants[f"%c{number}"] = f"arith.constant {number} : index"
        return f"%c{number}"

    def long(self, number: int) -> str:
        self.constants[f"%l{number}"] = f"arith.constant {number} : i64"
        return f"%l{number}"

    def parameter(self, name: str) -> str:
        self.parameters[name] = None
        return f"%{name}"

    @contextmanager
    def block(self, head: str) -> Generator[None]:
        self.add(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.add("}")

    @contextmanager
    def loop(self, high: str, low: int = 0, step: int = 1) -> Generator[str]:
        self.names += 1
        index = f"%i{self.names}"
        with self.block(f"scf.for {index} = {self.constant(low)} to {high} step {self.constant(step)}"):
            self.indices.append(index)
            yield index
            self.indices.pop()

    def pointer(self, base: str, offset: str, space: str) -> str:
        kind = f"!pto.ptr<f32, {space}>"
        return self.new(f"pto.addptr {base}, {offset}", f"{kind} -> {kind}")

    def scaled(self, value: str, by: int, plus: int = 0) -> str:
        found = self.new(f"arith.muli {value}, {self.constant(by)}")
        return self.new(f"arith.addi {found}, {self.constant(plus)}") if plus else found

    def tile(self, slot: str, first: int) -> str:
        return self.pointer("%ub", self.scaled(slot, TILE, TILE * first), "ub")

    def far(self, base: str, apart: bool) -> str:
        """A place in GM, another one for each iteration where tiles are `apart`."""
        offset = self.constant(0)
        for index, by in zip(self.indices if apart else (), (TILE * 100, TILE * 10, TILE), strict=False):
            offset = self.new(f"arith.addi {offset}, {self.scaled(index, by)}")
        return self.pointer(base, offset, "gm")

    def load(self, tile: str, tiles: int = 1, base: str = "%x", apart: bool = True) -> None:
        length, kinds = self.long(256 * tiles), "!pto.ptr<f32, gm>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64"
        burst = f"nburst({self.long(1)}, {length}, {length})"
        self.add(f"pto.mte_gm_ub {self.far(base, apart)}, {tile}, {self.long(0)}, {length} {burst} : {kinds}")

    def store(self, tile: str, tiles: int = 1, base: str = "%y", apart: bool = True) -> None:
        length, kinds = self.long(256 * tiles), "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64, i64, i64"
        burst = f"nburst({self.long(1)}, {length}, {length})"
        self.add(f"pto.mte_ub_gm {tile}, {self.far(base, apart)}, {length} {burst} : {kinds}")

    def compute(self, source: str, target: str) -> None:
        self.constants["%one"] = "arith.constant 1.0 : f32"
        zero = self.constant(0)
        self.names += 1
        n, register, pointer = self.names, "!pto.vreg<64xf32>", "!pto.ptr<f32, ub>"
        with self.block("pto.vecscope"):
            self.add(
                f'%all{n} = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>',
                f"%v{n} = pto.vlds {source}[{zero}] : {pointer} -> {register}",
                f"%w{n} = pto.vadds %v{n}, %one, %all{n} : {register}, f32, !pto.mask<b32> -> {register}",
                f"pto.vsts %w{n}, {target}[{zero}], %all{n} : {register}, {pointer}, !pto.mask<b32>",
            )

    def flag(self, half: str, source: str, target: str, id_: str | int) -> None:
        number = f'"EVENT_ID{id_}"' if isinstance(id_, int) else id_
        word = f"{half}_flag" if isinstance(id_, int) else f"{half}_flag_dyn"
        self.add(f'pto.{word}["PIPE_{source}", "PIPE_{target}", {number}]')

    def buffer(self, half: str, pipe: str, id_: str | int) -> None:
        value = self.long(id_) if isinstance(id_, int) else self.new(f"arith.index_cast {id_}", "index to i64")
        self.add(f'pto.{half}_buf "PIPE_{pipe}", {value}, {self.long(0)} : i64, i64')

    def barrier(self, pipe: str) -> None:
        self.add(f"pto.barrier #pto.pipe<PIPE_{pipe}>")

    def turn(self, slots: int, plus: str = "") -> str:
        """The index of the innermost loop modulo the slots."""
        value = self.indices[-1]
        value = self.new(f"arith.addi {value}, {plus}") if plus else value
        return self.new(f"arith.remui {value}, {self.constant(slots)}")

    def condition(self) -> str:
        """Something that a branch may depend on."""
        kinds = ["switch", "switch", "first", "early", "odd"] if self.indices else ["switch"]
        match self.dice.choice(kinds):
            case "first":
                return self.compared("eq", self.indices[-1], self.constant(0))
            case "early":
                return self.compared("slt", self.indices[-1], self.constant(2))
            case "odd":
                return self.compared("eq", self.turn(2), self.constant(self.dice.randrange(2)))
            case _:
                return self.compared("sgt", self.parameter(self.dice.choice(SWITCHES)), self.constant(0))

    def compared(self, how: str, one: str, other: str) -> str:
        self.names += 1
        self.add(f"%t{self.names} = arith.cmpi {how}, {one}, {other} : index")
        return f"%t{self.names}"

    def bound(self) -> str:
        """How often a loop runs: an argument says so, mostly."""
        if self.dice.random() < 0.2:
            return self.constant(self.dice.choice([1, 2, 2, 3, 4]))
        return self.parameter(next(name for name in (*TRIPS, "n") if name not in self.parameters or name == "k"))

    def text(self, framed: bool) -> str:
        """The kernel; where it is framed it fills what it uses of UB first and stores it at the end."""
        body, self.lines, self.depth = self.lines, [], 2
        indices, self.indices = self.indices, []
        if framed:
            self.load("%ub", TILES)
            self.barrier("ALL")
        self.lines += body
        self.barrier("ALL")
        if framed:
            self.store("%ub", TILES, "%z")
            self.barrier("ALL")
        self.indices = indices
        base = self.long(0)
        defined = [f"    {name} = {value}" for name, value in self.constants.items()]
        ordered = [name for name in (*TRIPS, *SWITCHES) if name in self.parameters]
        pointers = ", ".join(f"%{name}: !pto.ptr<f32, gm>" for name in "xyz")
        scalars = "".join(f", %{name}: index" for name in ordered)
        return "\n".join(
            [
                'module attributes {pto.target_arch = "a5"} {',
                f"  func.func @k({pointers}{scalars}) attributes {{pto.kernel}} {{",
                *defined,
                f"    %ub = pto.castptr {base} : i64 -> !pto.ptr<f32, ub>",
                *self.lines,
                "    return",
                "  }",
                "}",
                "",
            ]
        )
