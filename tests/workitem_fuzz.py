"""Random code of workitems: nested branches and loops, lanes that talk, memory, atomics, barriers where all come."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

from workitem_programs import section

SHUFFLES = ("shuffle_idx", "shuffle_up", "shuffle_down", "shuffle_bfly")
INTEGERS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui", "shli", "shrui", "shrsi")
FLOATS = ("addf", "subf", "mulf", "divf", "maximumf", "minnumf")
ORDERS = ("eq", "ne", "slt", "sle", "ugt", "uge")
ATOMICS = ("add", "sub", "min", "max", "and", "or", "xor", "exch")
MATH = ("sqrt", "exp", "absf", "floor", "ceil", "rint", "round", "sin")
ROUNDINGS = "rafcz"
UB_WORDS = 256


@dataclass
class RandomBody:
    """A body as text; values that may be used where the writer stands."""

    random: random.Random
    count: int
    lines: list[str] = field(default_factory=list[str])
    integers: list[str] = field(default_factory=lambda: ["%t", "%k0", "%k1", "%k2"])
    floats: list[str] = field(default_factory=lambda: ["%f0", "%f1"])
    numbers: int = 0

    def fresh(self) -> str:
        self.numbers += 1
        return f"%v{self.numbers}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def integer(self) -> str:
        return self.random.choice(self.integers)

    def real(self) -> str:
        return self.random.choice(self.floats)

    def place(self, words: int) -> str:
        """An index below a power of two."""
        masked, index = self.fresh(), self.fresh()
        mask = self.fresh()
        self.line(f"{mask} = arith.constant {words - 1} : i32")
        self.line(f"{masked} = arith.andi {self.integer()}, {mask} : i32")
        self.line(f"{index} = arith.index_cast {masked} : i32 to index")
        return index

    def condition(self) -> str:
        name = self.fresh()
        order = self.random.choice(ORDERS)
        self.line(f"{name} = arith.cmpi {order}, {self.integer()}, {self.integer()} : i32")
        return name

    # --- what may stand there -----------------------------------------------------------------------------------------

    def statement(self, depth: int, uniform: bool) -> None:
        kinds = [self.arithmetic] * 4 + [self.float_arithmetic] * 3 + [self.lanes] * 2 + [self.memory] * 3
        kinds += [self.atomic, self.mathematics, self.conversion, self.vote]
        if depth < 3:
            kinds += [self.branch, self.branch, self.loop, self.rounds]
        if uniform:
            kinds += [self.barrier]
        chosen = self.random.choice(kinds)
        if chosen in (self.branch, self.rounds):
            chosen(depth)  # type: ignore[call-arg]
        elif chosen == self.loop:
            self.loop(depth, uniform)
        else:
            chosen()  # type: ignore[call-arg]

    def block(self, depth: int, uniform: bool, most: int = 5) -> None:
        before = len(self.integers), len(self.floats)
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, uniform)
        if depth:
            del self.integers[before[0] :], self.floats[before[1] :]

    def arithmetic(self) -> None:
        name = self.fresh()
        self.line(f"{name} = arith.{self.random.choice(INTEGERS)} {self.integer()}, {self.integer()} : i32")
        self.integers.append(name)

    def float_arithmetic(self) -> None:
        name = self.fresh()
        self.line(f"{name} = arith.{self.random.choice(FLOATS)} {self.real()}, {self.real()} : f32")
        self.floats.append(name)

    def mathematics(self) -> None:
        name = self.fresh()
        self.line(f"{name} = pto.{self.random.choice(MATH)} {self.real()} : f32 -> f32")
        self.floats.append(name)

    def conversion(self) -> None:
        name, mode = self.fresh(), self.random.choice(ROUNDINGS)
        if self.random.random() < 0.5:
            self.line(f"{name} = pto.convert {self.real()} round({mode}) sat signed : f32 -> i32")
            self.integers.append(name)
        else:
            self.line(f"{name} = pto.convert {self.integer()} round({mode}) nosat unsigned : i32 -> f32")
            self.floats.append(name)

    def lanes(self) -> None:
        name, what = self.fresh(), self.random.random()
        if what < 0.6:
            width = self.random.choice(("", " {width = 16 : i32}"))
            shuffle = self.random.choice(SHUFFLES)
            type_, value, kept = self.random.choice(
                [("i32", self.integer(), self.integers), ("f32", self.real(), self.floats)]
            )
            self.line(f"{name} = pto.{shuffle} {value}, {self.integer()}{width} : {type_}, i32 -> {type_}")
            kept.append(name)
        elif what < 0.8:
            self.line(f"{name} = pto.redux_add {self.real()} : f32 -> f32")
            self.floats.append(name)
        else:
            word = self.random.choice(("max", "min"))
            sign = self.random.choice(("signed", "unsigned"))
            self.line(f"{name} = pto.redux_{word} {self.integer()} {sign} : i32 -> i32")
            self.integers.append(name)

    def vote(self) -> None:
        name = self.fresh()
        self.line(f"{name} = pto.vote_ballot {self.condition()} : i1 -> i32")
        self.integers.append(name)

    def memory(self) -> None:
        name, what = self.fresh(), self.random.random()
        if what < 0.35:
            index = self.place(UB_WORDS)
            self.line(f"{name} = pto.load %ub[{index}] : !pto.ptr<i32, ub> -> i32")
            self.integers.append(name)
        elif what < 0.7:
            index = self.place(UB_WORDS)
            self.line(f"pto.store {self.integer()}, %ub[{index}] : !pto.ptr<i32, ub>, i32")
        elif what < 0.85:
            index = self.place(64)
            self.line(f"{name} = pto.ldg %x[{index}] : !pto.ptr<f32, gm> -> f32")
            self.floats.append(name)
        else:
            self.line(f"pto.stg {self.real()}, %x[%i] : !pto.ptr<f32, gm>, f32")

    def atomic(self) -> None:
        name, pointer = self.fresh(), self.fresh()
        self.line(f"{pointer} = pto.addptr %ub, {self.place(UB_WORDS)} : !pto.ptr<i32, ub> -> !pto.ptr<i32, ub>")
        word = self.random.choice(ATOMICS)
        self.line(f"{name} = pto.atomic_{word} {pointer}, {self.integer()} : !pto.ptr<i32, ub>, i32 -> i32")
        self.integers.append(name)

    def barrier(self) -> None:
        self.line("pto.syncthreads")

    def branch(self, depth: int) -> None:
        condition, name = self.condition(), self.fresh()
        self.line(f"{name} = scf.if {condition} -> (i32) {{")
        self.block(depth + 1, False)
        self.line(f"scf.yield {self.integer()} : i32\n}} else {{")
        self.block(depth + 1, False)
        self.line(f"scf.yield {self.integer()} : i32\n}}")
        self.integers.append(name)

    def loop(self, depth: int, uniform: bool) -> None:
        name, index, carried, low, high, step = (self.fresh() for _ in range(6))
        alike = uniform or self.random.random() < 0.5
        self.line(f"{low} = arith.constant 0 : index\n{step} = arith.constant {self.random.randint(1, 3)} : index")
        if alike:
            self.line(f"{high} = arith.constant {self.random.randint(0, 4)} : index")
        else:
            high = self.place(4)
        bounds = f"{index} = {low} to {high} step {step}"
        self.line(f"{name} = scf.for {bounds} iter_args({carried} = {self.integer()}) -> (i32) {{")
        self.integers.append(carried)
        self.block(depth + 1, uniform and alike)
        self.line(f"scf.yield {self.integer()} : i32\n}}")
        self.integers.remove(carried)
        self.integers.append(name)

    def rounds(self, depth: int) -> None:
        """A while whose lanes leave at different times."""
        name, count, inner, less, going, one, mask, start = (self.fresh() for _ in range(8))
        self.line(f"{mask} = arith.constant 7 : i32\n{one} = arith.constant 1 : i32")
        self.line(f"{start} = arith.andi {self.integer()}, {mask} : i32")
        zero = self.fresh()
        self.line(f"{zero} = arith.constant 0 : i32")
        self.line(f"{name} = scf.while ({count} = {start}) : (i32) -> i32 {{")
        self.line(f"{going} = arith.cmpi sgt, {count}, {zero} : i32\nscf.condition({going}) {count} : i32\n}} do {{")
        self.line(f"^bb0({inner}: i32):")
        self.integers.append(inner)
        self.block(depth + 1, False, 3)
        self.integers.remove(inner)
        self.line(f"{less} = arith.subi {inner}, {one} : i32\nscf.yield {less} : i32\n}}")
        self.integers.append(name)


def random_body(seed: int) -> tuple[str, int]:
    """A kernel, and how many workitems it has."""
    source = random.Random(seed)
    count = source.choice((1, 7, 32, 33, 64, 100))
    body = RandomBody(source, count)
    for number in range(3):
        body.line(f"%k{number} = arith.constant {source.randint(-5, 40)} : i32")
    body.line("%f0 = arith.constant 1.5 : f32\n%f1 = arith.sitofp %t : i32 to f32")
    body.block(0, True, 14)
    for number, value in enumerate(body.integers[-4:]):
        body.line(f"%o{number} = arith.constant {number * 128} : index\n%w{number} = arith.addi %i, %o{number} : index")
        body.line(f"pto.store {value}, %y[%w{number}] : !pto.ptr<i32, gm>, i32")
    body.line(f"pto.store {body.floats[-1]}, %x[%i] : !pto.ptr<f32, gm>, f32")
    return section("\n".join(body.lines), ["%x: !pto.ptr<f32, gm>", "%y: !pto.ptr<i32, gm>"], f"{count}, 1, 1"), count


def arguments(seed: int) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(seed).normal(size=128).astype("f4"), np.zeros(512, "i4")
