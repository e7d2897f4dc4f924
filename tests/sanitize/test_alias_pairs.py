"""Which accesses of a vector scope alias, pair by pair: random scopes, held against section 4 of the text on order.

An earlier and a later access that share a byte, one of them a store, need a mem_bar between them whose classes cover
both. Scalar code is in order with itself, and a store cannot overtake a load that its operands wait for, be it through
registers or through a store and a later load of the same bytes with such a mem_bar between.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

import ptosim
from observed import findings
from sanitize.kernels import ALL, load, scope, text

SCOPES = 20
"""Of one kernel."""
STEPS = 9

CLASSES = {"V": ("vld", "vst"), "S": ("ld", "st")}
COVERED = {
    **{f"{one}{two}_ALL": {*product(CLASSES[one], CLASSES[two])} for one, two in product("VS", repeat=2)},
    "VST_VLD": {("vst", "vld")},
    "VLD_VST": {("vld", "vst")},
    "VST_VST": {("vst", "vst")},
    "VST_LD": {("vst", "ld")},
    "VLD_ST": {("vld", "st")},
    "VST_ST": {("vst", "st")},
    "ST_VLD": {("st", "vld")},
    "LD_VST": {("ld", "vst")},
    "ST_VST": {("st", "vst")},
    "ST_LD": {("st", "ld")},
    "LD_ST": {("ld", "st")},
    "ST_ST": {("st", "st")},
}
"""Per mem_bar the classes of an earlier and a later access that it orders."""

HEAD = """    %i = arith.constant 0 : index
    %word = arith.constant 7.0 : f32
    %room = arith.constant 1024 : i64
"""
CONSTANTS = "      %k = pto.vbr %word : f32 -> !pto.vreg<64xf32>\n" + "".join(
    f'      %m_{name} = pto.pset_b32 "PAT_{name}" : !pto.mask<b32>\n' for name in ("ALL", "VL1", "VL8", "VL32")
)
LANES = {"ALL": 64, "VL1": 1, "VL8": 8, "VL32": 32}


@dataclass(frozen=True)
class Step:
    """An instruction of a scope, behind the lines that make its address."""

    lines: str
    kind: str
    """The class of an access, a mem_bar, or nothing."""
    first: int = 0
    size: int = 0
    """The bytes that it touches; in each round of a loop so many further on."""
    stride: int = 0
    result: str = ""
    operand: str = ""


Body = Sequence["Step | list[Step]"]
"""A list is a loop of three rounds."""


@dataclass
class Writer:
    chance: random.Random
    serial: int = 0
    vectors: list[str] = field(default_factory=lambda: ["%k"])
    words: list[str] = field(default_factory=lambda: ["%word"])

    def body(self) -> Body:
        found: list[Step | list[Step]] = []
        while len(found) < STEPS:
            if self.chance.random() >= 0.12:
                found.append(self.step(False))
                continue
            known = len(self.vectors), len(self.words)
            found.append([self.step(True) for _ in range(self.chance.randrange(1, 4))])
            del self.vectors[known[0] :], self.words[known[1] :]
        return found

    def step(self, looped: bool) -> Step:
        makers: list[Callable[[bool], Step]] = [self.load, self.load, self.store, self.store, self.get, self.put]
        makers += [self.fence, self.fence, self.fence, self.spread]
        return self.chance.choice(makers)(looped)

    def fresh(self, letter: str, known: list[str]) -> str:
        self.serial += 1
        known.append(f"%{letter}{self.serial}")
        return known[-1]

    def place(self, looped: bool, unit: int) -> tuple[str, str, int, int]:
        """Lines that make an offset, its name, the byte there, and how far rounds are apart."""
        offset = unit * self.chance.randrange(24 // unit)
        stride = unit * self.chance.choice([0, 1, 2]) if looped else 0
        first, factor, step, name = (self.fresh("o", []) for _ in range(4))
        lines = f"      {first} = arith.constant {offset} : index\n      {factor} = arith.constant {stride} : index\n"
        lines += f"      {step} = arith.muli %i, {factor} : index\n      {name} = arith.addi {first}, {step} : index\n"
        return lines.replace("%i,", "%j," if looped else "%i,"), name, 4 * offset, 4 * stride

    def load(self, looped: bool) -> Step:
        dist, size = self.chance.choice([("NORM", 256), ("BRC_B32", 4), ("UNPK_B16", 128)])
        lines, offset, first, stride = self.place(looped, 1 if size == 4 else 8)
        name = self.fresh("v", self.vectors)
        lines += f'      {name} = pto.vlds %in[{offset}] {{dist = "{dist}"}} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>\n'
        return Step(lines, "vld", first, size, stride, name)

    def store(self, looped: bool) -> Step:
        value, mask = self.chance.choice(self.vectors), self.chance.choice([*LANES, "1PT"])
        lines, offset, first, stride = self.place(looped, 1 if mask == "1PT" else 8)
        how = '%m_ALL {dist = "1PT_B32"}' if mask == "1PT" else f"%m_{mask}"
        lines += (
            f"      pto.vsts {value}, %in[{offset}], {how} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>\n"
        )
        return Step(lines, "vst", first, 4 * LANES.get(mask, 1), stride, "", value)

    def get(self, looped: bool) -> Step:
        lines, offset, first, stride = self.place(looped, 1)
        name = self.fresh("s", self.words)
        lines += f"      {name} = pto.load_scalar %in[{offset}] : !pto.ptr<f32, ub> -> f32\n"
        return Step(lines, "ld", first, 4, stride, name)

    def put(self, looped: bool) -> Step:
        value = self.chance.choice(self.words)
        lines, offset, first, stride = self.place(looped, 1)
        lines += f"      pto.store_scalar {value}, %in[{offset}] : !pto.ptr<f32, ub>, f32\n"
        return Step(lines, "st", first, 4, stride, "", value)

    def fence(self, looped: bool) -> Step:
        kind = self.chance.choice(sorted(COVERED))
        return Step(f'      pto.mem_bar "{kind}"\n', kind)

    def spread(self, looped: bool) -> Step:
        word, name = self.chance.choice(self.words), self.fresh("v", self.vectors)
        return Step(f"      {name} = pto.vbr {word} : f32 -> !pto.vreg<64xf32>\n", "", 0, 0, 0, name, word)


def written(body: Body) -> str:
    lines = CONSTANTS
    for part in body:
        if isinstance(part, Step):
            lines += part.lines
        else:
            inside = "".join(step.lines for step in part)
            lines += f"      scf.for %j = %c0 to %c3 step %c1 {{\n{inside}      }}\n"
    return lines


def rounds(body: Body) -> Iterator[tuple[Step, int]]:
    """Each instruction as often as it executes."""
    for part in body:
        yield from ((step, turn) for turn in range(3) for step in part) if isinstance(part, list) else ((part, 0),)


Pair = tuple[Step, Step]


def expected(body: Body) -> dict[Pair, str]:
    """The pairs that alias, and how gravely."""
    found: dict[Pair, str] = {}
    reads: dict[Step, set[Step]] = {}
    """Stores, and the loads that have read what they stored behind a mem_bar."""
    users = [(step.operand, step) for step, _ in rounds(body) if step.operand]

    def waits(store: Step, load: Step) -> bool:
        seen, pending = set[Step](), [load]
        while pending:
            step = pending.pop()
            behind = [user for name, user in users if step.result and name == step.result]
            for user in (*behind, *reads.get(step, ())):
                if user not in seen:
                    seen.add(user)
                    pending.append(user)
        return store in seen

    trace = list(rounds(body))
    for now, (later, turn) in enumerate(trace):
        for before, (earlier, round_) in enumerate(trace[:now]):
            if later.size == 0 or earlier.size == 0 or {earlier.kind, later.kind} <= {"ld", "st"}:
                continue
            if not ({earlier.kind, later.kind} & {"st", "vst"}) or not _meet(earlier, round_, later, turn):
                continue
            is_load = later.kind in ("ld", "vld")
            if any((earlier.kind, later.kind) in COVERED.get(step.kind, ()) for step, _ in trace[before:now]):
                if is_load:
                    reads.setdefault(earlier, set()).add(later)
            elif is_load:
                found[earlier, later] = "error"
            elif earlier.kind in ("st", "vst") or not waits(later, earlier):
                found.setdefault((earlier, later), "warning")
    return found


def _meet(one: Step, turn: int, other: Step, round_: int) -> bool:
    first, second = one.first + turn * one.stride, other.first + round_ * other.stride
    return first < second + other.size and second < first + one.size


def kernel(bodies: Sequence[Body]) -> str:
    scopes = "".join(scope(written(body)) for body in bodies)
    source = text(HEAD + "    %c3 = arith.constant 3 : index\n" + load(length="%room") + ALL + scopes)
    return source.replace("%bytes)", "%bytes)")


def line_of(source: str, step: Step) -> int:
    return source[: source.index(step.lines)].count("\n") + step.lines.count("\n")


@pytest.mark.parametrize("seed", range(40))
def test_pairs_that_alias(seed: int) -> None:
    chance = random.Random(seed)
    writer = Writer(chance)
    bodies: list[Body] = []
    for _ in range(SCOPES):
        writer.vectors, writer.words = ["%k"], ["%word"]
        bodies.append(writer.body())
    source = kernel(bodies)
    pairs = [pair for body in bodies for pair in expected(body).items()]
    wanted = {(line_of(source, one), line_of(source, two), how) for (one, two), how in pairs}
    loaded = ptosim.load(source).kernel()
    arguments = np.arange(256, dtype=np.float32), np.zeros(64, np.float32)
    found = findings(loaded, *arguments)
    assert {finding.kind for finding in found} <= {"scope-alias"}
    told = {(each.related[0].location.line, each.line, each.severity) for each in found}
    assert told == wanted
