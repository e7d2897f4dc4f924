"""Random kernels of the micro level whose result may depend on the schedule: features alone and in pairs.

A kernel is a chain of actions on the pipes of a vector core, each ordered behind the one before; then some of that
order is left out. What is shown in the end is a part of what the actions left, so that many missing edges do no harm.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fuzz.scope_features import BUFFER, BUFFERS, FEATURES, Lines, Scope

REGION = BUFFERS * BUFFER
PARAMETERS = ", ".join(f"%{name}: !pto.ptr<ui8, gm>" for name in ("x", "y", "z", "end"))
SYNC = ("pto.set_flag", "pto.wait_flag", "pto.barrier", "pto.get_buf", "pto.rls_buf", "pto.dsb")


@dataclass(frozen=True)
class ScheduleProgram:
    seed: int
    features: tuple[str, ...]
    text: str

    @property
    def bare(self) -> str:
        """Without the synchronisation in the middle."""
        head, chain, tail = self.text.partition("    // the chain\n")
        body, end, rest = tail.partition("    // the end\n")
        kept = [line for line in body.splitlines(True) if not line.strip().startswith(SYNC)]
        return head + chain + "".join(kept) + end + rest

    def arguments(self) -> list[NDArray[np.uint8]]:
        source = np.random.default_rng(self.seed)
        given = [source.integers(0, 256, REGION, np.uint8) for _ in range(4)]
        for array in given[:3]:  # numbers of which some are small
            array.view(np.int32)[::3] %= 64
        return given


Action = Callable[[Lines], None]


class Chain:
    """A kernel while it is written."""

    def __init__(self, chance: random.Random, features: Sequence[str]) -> None:
        self.lines = Lines(chance, depth=2)
        self.chance = chance
        self.features = features
        self.events = 0
        self.style = chance.choice(("flags", "flags", "flags", "barriers", "buffers", "mixed"))
        self.left_out = chance.choice((0.1, 0.4, 0.7, 1.0))
        self.pipes: list[str] = []

    # --- order --------------------------------------------------------------------------------------------------------

    def order(self, source: str, destination: str) -> None:
        style = self.style if self.style != "mixed" else self.chance.choice(("flags", "barriers"))
        if source == destination:
            if source in ("MTE2", "MTE3"):
                self.lines.say(f"pto.barrier #pto.pipe<PIPE_{source}>")
        elif style == "barriers":
            self.lines.say("pto.barrier #pto.pipe<PIPE_ALL>")
        else:
            self.events += 1
            key = f'["PIPE_{source}", "PIPE_{destination}", "EVENT_ID{self.events % 8}"]'
            self.lines.say(f"pto.set_flag{key}")
            self.lines.say(f"pto.wait_flag{key}")

    def act(self, pipe: str, action: Callable[[], None]) -> None:
        """An action behind the one before, and now and then behind an earlier one, or not."""
        for before in self.pipes[-2:]:
            if self.chance.random() >= self.left_out:
                self.order(before, pipe)
        buffers = self.style == "buffers" and pipe != "S"
        if buffers:
            self.lines.say(f'pto.get_buf "PIPE_{pipe}", 5, 0')
        action()
        if buffers:
            self.lines.say(f'pto.rls_buf "PIPE_{pipe}", 5, 0')
        self.pipes.append(pipe)

    # --- actions ------------------------------------------------------------------------------------------------------

    def gm(self, name: str, offset: int) -> str:
        place = self.lines.constant(offset)
        return self.lines.value("g", f"pto.addptr %{name}, {place} : !pto.ptr<ui8, gm> -> !pto.ptr<ui8, gm>")

    def number(self, value: int) -> str:
        return self.lines.constant(value, "i64")

    def buffer(self) -> int:
        return self.chance.randrange(BUFFERS)

    def load(self) -> None:
        """Rows of one length into a buffer, side by side or apart; now and then in a loop, or padded."""
        rows, length = self.chance.choice((1, 1, 2, 3)), 32 * self.chance.randint(1, 8)
        if self.chance.random() < 0.1:
            length -= self.chance.randint(1, 31)
        apart = (length + 31) // 32 * 32 + 32 * self.chance.choice((0, 0, 1))
        first = self.buffer() * BUFFER + 32 * self.chance.randrange((BUFFER - min(rows * apart, BUFFER)) // 32 + 1)
        source = self.gm(self.chance.choice("xyz"), 32 * self.chance.randrange(64))
        pointer, zero = self.lines.pointer(first, "ui8"), self.number(0)
        count, wide, far = self.number(rows), self.number(length), self.number(apart)
        types = "!pto.ptr<ui8, gm>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64"
        clause = ""
        if self.chance.random() < 0.1:
            clause, more = f" loop({self.number(2)}, {self.number(64)}, {self.number(0)})", ", loop i64, i64, i64"
            types += more
        self.lines.say(
            f"pto.mte_gm_ub {source}, {pointer}, {zero}, {wide} nburst({count}, {wide}, {far}){clause} : {types}"
        )

    def store(self) -> None:
        rows, length = self.chance.choice((1, 1, 2)), 32 * self.chance.randint(1, 8)
        if self.chance.random() < 0.2:
            length -= self.chance.randint(1, 31)
        first = self.buffer() * BUFFER + 32 * self.chance.randrange(16)
        dest = self.gm(self.chance.choice(("y", "z", "end")), 32 * self.chance.randrange(64))
        near, far, wide = (self.number(each) for each in ((length + 31) // 32 * 32, length + 32, length))
        types = "!pto.ptr<ui8, ub>, !pto.ptr<ui8, gm>, i64, i64, i64, i64"
        pointer = self.lines.pointer(first, "ui8")
        self.lines.say(f"pto.mte_ub_gm {pointer}, {dest}, {wide} nburst({self.number(rows)}, {near}, {far}) : {types}")

    def inside(self) -> None:
        """A copy within UB, of blocks of 32 bytes."""
        first, second = self.chance.sample(range(BUFFERS), 2)
        pointers = ", ".join(self.lines.pointer(number * BUFFER, "ui8") for number in (first, second))
        length, zero, one = self.number(self.chance.randint(1, 8)), self.number(0), self.number(1)
        types = "!pto.ptr<ui8, ub>, !pto.ptr<ui8, ub>, i64, i64, i64, i64"
        self.lines.say(f"pto.mte_ub_ub {pointers}, {length} nburst({one}, {zero}, {zero}) : {types}")

    def scope(self) -> None:
        numbers = self.chance.sample(range(BUFFERS), 4)
        scope = Scope(self.lines, numbers[:2], numbers[2:])
        self.lines.say("pto.vecscope {")
        self.lines.depth += 1
        for turn, name in enumerate(self.chance.sample(self.features, self.chance.randint(1, len(self.features)))):
            if turn:
                for kind in ("VV_ALL", "VS_ALL", "SV_ALL"):
                    self.lines.say(f'pto.mem_bar "{kind}"')
            FEATURES[name](scope)
        self.lines.depth -= 1
        self.lines.say("}")

    def sort(self) -> None:
        """Two lists of records are merged, until one is used up, or scores are sorted."""
        places = self.chance.sample(range(BUFFERS), 3)
        first, second, third = (self.lines.pointer(number * BUFFER, "f32") for number in places)
        if self.chance.random() < 0.5:
            index = self.lines.pointer(places[2] * BUFFER, "ui32")
            types = "!pto.ptr<f32, ub>, !pto.ptr<f32, ub>, !pto.ptr<ui32, ub>, index"
            self.lines.say(f"pto.vbitsort {first}, {second}, {index}, {self.lines.constant(1)} : {types}")
            return
        types = ", ".join(["!pto.ptr<f32, ub>"] * 5 + ["i64", "i64"])
        lists = f"{second}, {third}, {second}, {third}"
        config = self.number(self.chance.choice((0x0301, 0x1301)))
        self.lines.say(f"pto.vmrgsort4 {first}, {lists}, {self.number(4 << 16 | 4)}, {config} : {types}")

    def status(self) -> None:
        names = [self.lines.fresh("s") for _ in range(4)]
        self.lines.say(f"{', '.join(names)} = pto.get_vms4_sr : i16, i16, i16, i16")
        pointer = self.lines.pointer(self.buffer() * BUFFER, "i16")
        self.lines.say(f"pto.store_scalar {names[0]}, {pointer}[{self.lines.constant(3)}] : !pto.ptr<i16, ub>, i16")

    def scalar(self) -> None:
        """A word from UB is stored elsewhere, or decides something."""
        place, pointer = (
            self.lines.constant(self.chance.randrange(64)),
            self.lines.pointer(self.buffer() * BUFFER, "i32"),
        )
        word = self.lines.value("s", f"pto.load_scalar {pointer}[{place}] : !pto.ptr<i32, ub> -> i32")
        match self.chance.randrange(3):
            case 0:
                other = self.lines.pointer(self.buffer() * BUFFER, "i32")
                where = self.lines.constant(self.chance.randrange(64))
                self.lines.say(f"pto.store_scalar {word}, {other}[{where}] : !pto.ptr<i32, ub>, i32")
            case 1:
                flag = self.lines.value("s", f"arith.cmpi slt, {word}, {self.lines.constant(20, 'i32')} : i32")
                self.lines.say(f"scf.if {flag} {{")
                self.lines.depth += 1
                self.lines.say(f"pto.store_scalar {word}, {pointer}[{self.lines.constant(1)}] : !pto.ptr<i32, ub>, i32")
                self.lines.depth -= 1
                self.lines.say("}")
            case _:
                gm = self.gm("end", 4 * self.chance.randrange(64))
                target = self.lines.value("g", f"pto.castptr {gm} : !pto.ptr<ui8, gm> -> !pto.ptr<i32, gm>")
                self.lines.say(f"pto.store_scalar {word}, {target}[{self.lines.constant(0)}] : !pto.ptr<i32, gm>, i32")

    # --- the whole ----------------------------------------------------------------------------------------------------

    def written(self) -> str:
        self.fill()
        self.lines.say("// the chain")
        makers = [("MTE2", self.load)] * 4 + [("V", self.scope)] * 5 + [("MTE3", self.store)] * 2
        makers += [("S", self.scalar), ("V", self.inside)]
        if self.chance.random() < 0.15:
            makers += [("V", self.sort), ("S", self.status)]
        self.act("MTE2", self.load)
        self.act("V", self.scope)
        for _ in range(self.chance.randint(1, 4)):
            self.act(*self.chance.choice(makers))
        self.lines.say("// the end")
        self.show()
        head = "".join(f"    {name} = {made}\n" for name, made in self.lines.head.items())
        body = "".join(f"{line}\n" for line in self.lines.body)
        function = f"func.func @program({PARAMETERS}) attributes {{pto.kernel}} {{"
        opening = f'module attributes {{pto.target_arch = "a5"}} {{\n  {function}\n'
        return opening + head + body + "    return\n  }\n}\n"

    def fill(self) -> None:
        """All of UB, or all but one buffer."""
        count = BUFFERS if self.chance.random() < 0.8 else BUFFERS - 1
        size, one, zero = self.number(count * BUFFER), self.number(1), self.number(0)
        types = "!pto.ptr<ui8, gm>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64"
        ub = self.lines.pointer(0, "ui8")
        self.lines.say(f"pto.mte_gm_ub %x, {ub}, {zero}, {size} nburst({one}, {size}, {size}) : {types}")
        self.lines.say("pto.barrier #pto.pipe<PIPE_ALL>")

    def show(self) -> None:
        """Some of the buffers, or parts of them."""
        self.lines.say("pto.barrier #pto.pipe<PIPE_ALL>")
        types = "!pto.ptr<ui8, ub>, !pto.ptr<ui8, gm>, i64, i64, i64, i64"
        for number in self.chance.sample(range(BUFFERS), self.chance.randint(2, BUFFERS)):
            length = self.number(self.chance.choice((BUFFER, BUFFER, 512, 64)))
            ub, gm = self.lines.pointer(number * BUFFER, "ui8"), self.gm("end", number * BUFFER)
            self.lines.say(f"pto.mte_ub_gm {ub}, {gm}, {length} nburst({self.number(1)}, {length}, {length}) : {types}")
        self.lines.say("pto.barrier #pto.pipe<PIPE_ALL>")


def schedule_program(seed: int, features: Sequence[str] = ()) -> ScheduleProgram:
    """One of these features, or of all, alone or in a pair."""
    chance = random.Random(seed)
    chosen = tuple(features) or tuple(chance.sample(sorted(FEATURES), chance.choice((1, 2, 2))))
    return ScheduleProgram(seed, chosen, Chain(chance, chosen).written())
