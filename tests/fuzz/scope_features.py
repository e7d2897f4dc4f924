"""What the vector scopes of random schedules are made of: one function per feature of the micro level.

A feature reads the sources of its scope and stores to its targets. Masks, offsets, counts, scalars and special
registers come from constants or from what has been loaded, so that a racy byte may decide anything.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import predicate_cases
from program_scopes import cases as register_cases
from ptosim.effects.element import ELEMENTS

BUFFERS, BUFFER = 6, 1024
"""Of UB, side by side."""
PATTERNS = ("ALL", "ALL", "VL1", "VL2", "VL3", "VL4", "VL8", "VL16", "VL32", "M3", "M4", "H", "Q", "ALLF")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_VALUE = re.compile(r"%\w+")


def size_of(kind: str) -> int:
    return ELEMENTS[kind].bytes


def vreg(kind: str) -> str:
    return f"!pto.vreg<{256 // size_of(kind)}x{kind}>"


def mask_of(kind: str) -> str:
    return f"!pto.mask<b{8 * size_of(kind)}>"


@dataclass
class Lines:
    """The body of a kernel: names, and constants and pointers defined once, at its head."""

    chance: random.Random
    head: dict[str, str] = field(default_factory=dict[str, str])
    body: list[str] = field(default_factory=list[str])
    depth: int = 0
    names: int = 0

    def fresh(self, letter: str) -> str:
        self.names += 1
        return f"%{letter}{self.names}"

    def say(self, text: str) -> None:
        self.body.append("  " * self.depth + text)

    def value(self, letter: str, expression: str) -> str:
        name = self.fresh(letter)
        self.say(f"{name} = {expression}")
        return name

    def constant(self, value: int | str, type_: str = "index") -> str:
        name = f"%c{value}_{type_}".replace("-", "m").replace(".", "p")
        self.head.setdefault(name, f"arith.constant {value} : {type_}")
        return name

    def pointer(self, address: int, kind: str) -> str:
        name = f"%ub{address}_{kind}"
        whole = self.constant(address, "i64")
        self.head.setdefault(name, f"pto.castptr {whole} : i64 -> !pto.ptr<{kind}, ub>")
        return name

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability


@dataclass
class Scope:
    """A vector scope while it is written."""

    lines: Lines
    sources: list[int]
    targets: list[int]
    masks: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    registers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    @property
    def chance(self) -> random.Random:
        return self.lines.chance

    def place(self, numbers: list[int], width: int, unit: int = 32) -> int:
        """The address of so many bytes of one of these buffers; now and then they reach into the next one."""
        room = BUFFER if self.lines.likely(0.1) else BUFFER - width
        return self.chance.choice(numbers) * BUFFER + self.chance.randrange(max(room // unit, 1)) * unit

    def source(self, kind: str, width: int = 256, unit: int = 32) -> str:
        return self.lines.pointer(self.place(self.sources, width, unit), kind)

    def target(self, kind: str, width: int = 256, unit: int = 32) -> str:
        room = min(width, BUFFER)
        first = self.chance.choice(self.targets) * BUFFER
        return self.lines.pointer(first + self.chance.randrange((BUFFER - room) // unit + 1) * unit, kind)

    def kind(self, *among: str) -> str:
        return self.chance.choice(among or ("i32", "f32", "i16", "f16", "ui8", "ui32", "i8"))

    def keep(self, kind: str, name: str) -> str:
        self.registers.setdefault(kind, []).append(name)
        return name

    def register(self, kind: str) -> str:
        known = self.registers.get(kind)
        if known and self.lines.likely(0.5):
            return self.chance.choice(known)
        text = f"pto.vlds {self.source(kind)}[{self.lines.constant(0)}] : !pto.ptr<{kind}, ub> -> {vreg(kind)}"
        return self.keep(kind, self.lines.value("v", text))

    def mask(self, width: int) -> str:
        """A mask of this many bits per lane: a pattern, a comparison, a loaded one, or a count."""
        known = self.masks.setdefault(width, [])
        if known and self.lines.likely(0.3):
            return self.chance.choice(known)
        type_, pick = f"!pto.mask<b{width}>", self.chance.random()
        if pick < 0.5:
            made = f'pto.pset_b{width} "PAT_{self.chance.choice(PATTERNS)}" : {type_}'
        elif pick < 0.8:
            made = self._compared(width, type_)
        elif pick < 0.9:
            where = f"{self.source('ui8', 32)}[{self.lines.constant(0)}]"
            made = f'pto.plds {where}, "NORM" : !pto.ptr<ui8, ub>, index -> {type_}'
        else:
            name, rest, count = self.lines.fresh("m"), self.lines.fresh("n"), self.count(260)
            self.lines.say(f"{name}, {rest} = pto.plt_b{width} {count} : i32 -> {type_}, i32")
            known.append(name)
            return name
        known.append(self.lines.value("m", made))
        return known[-1]

    def _compared(self, width: int, type_: str) -> str:
        kind = {8: "i8", 16: "i16", 32: "i32"}[width]
        every = self.lines.value("m", f'pto.pset_b{width} "PAT_ALL" : {type_}')
        limit = self.lines.constant(self.chance.choice((0, 5, 40)), kind)
        types = f"{vreg(kind)}, {kind}, {type_} -> {type_}"
        return f'pto.vcmps {self.register(kind)}, {limit}, {every}, "{self.chance.choice(COMPARISONS)}" : {types}'

    def count(self, most: int) -> str:
        """An i32 between 0 and the most, from a constant or from memory."""
        if self.lines.likely(0.6):
            return self.lines.constant(self.chance.randint(0, most), "i32")
        loaded = self.scalar("i32")
        return self.lines.value("s", f"arith.remui {loaded}, {self.lines.constant(most + 1, 'i32')} : i32")

    def scalar(self, kind: str) -> str:
        pointer, zero = self.source(kind, 4, 4), self.lines.constant(0)
        return self.lines.value("s", f"pto.load_scalar {pointer}[{zero}] : !pto.ptr<{kind}, ub> -> {kind}")

    def offsets(self, kind: str, most: int) -> str:
        """A register of numbers up to a power of two, made of loaded ones or counted."""
        type_, every = vreg(kind), self.lines.value("m", f'pto.pset_b{8 * size_of(kind)} "PAT_ALL" : {mask_of(kind)}')
        limit = self.lines.constant(most - 1, kind)
        low = self.lines.value("v", f"pto.vdup {limit}, {every} : {kind}, {mask_of(kind)} -> {type_}")
        types = f"{type_}, {type_}, {mask_of(kind)} -> {type_}"
        return self.lines.value("v", f"pto.vand {self.register(kind)}, {low}, {every} : {types}")

    def show(self, kind: str, name: str) -> None:
        """Store a register, mostly under a mask."""
        mask, pointer = self.mask(8 * size_of(kind)), self.target(kind)
        types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, {mask_of(kind)}"
        self.lines.say(f"pto.vsts {name}, {pointer}[{self.lines.constant(0)}], {mask} : {types}")

    def show_mask(self, width: int, name: str) -> None:
        types = f"!pto.mask<b{width}>, !pto.ptr<ui8, ub>, index"
        self.lines.say(f'pto.psts {name}, {self.target("ui8", 32)}[{self.lines.constant(0)}], "NORM" : {types}')


# --- loads and stores -------------------------------------------------------------------------------------------------

LOADS = {
    "NORM": (256, 32),
    "BRC_B8": (1, 1),
    "BRC_B16": (2, 2),
    "BRC_B32": (4, 4),
    "BRC_BLK": (32, 32),
    "US_B8": (128, 32),
    "US_B16": (128, 32),
    "DS_B8": (512, 32),
    "DS_B16": (512, 32),
    "UNPK_B8": (128, 32),
    "UNPK_B16": (128, 32),
    "UNPK_B32": (128, 32),
    "UNPK4": (64, 32),
    "E2B_B16": (16, 16),
    "E2B_B32": (32, 32),
    "SPLT4CHN": (1024, 32),
    "SPLT2CHN_B8": (512, 32),
    "SPLT2CHN_B16": (512, 32),
}
PAIRS = ("BDINTLV", "DINTLV_B8", "DINTLV_B16", "DINTLV_B32")
STORES = {
    "NORM_B8": (256, 8),
    "NORM_B16": (256, 16),
    "NORM_B32": (256, 32),
    "1PT_B8": (1, 8),
    "1PT_B16": (2, 16),
    "1PT_B32": (4, 32),
    "PK_B16": (128, 16),
    "PK_B32": (128, 32),
    "PK_B64": (128, 32),
    "PK4_B32": (64, 32),
}


def loads(scope: Scope) -> None:
    dist = scope.chance.choice(list(LOADS))
    width, unit = LOADS[dist]
    kind = {"8": "ui8", "16": "i16", "32": "i32"}.get(dist.rpartition("_B")[2], scope.kind("i32", "f32", "i16", "ui8"))
    pointer = scope.source(kind, width, max(unit, size_of(kind)))
    text = f'pto.vlds {pointer}[{scope.lines.constant(0)}] {{dist = "{dist}"}} : !pto.ptr<{kind}, ub> -> {vreg(kind)}'
    scope.show(kind, scope.keep(kind, scope.lines.value("v", text)))


def pair_loads(scope: Scope) -> None:
    kind, low, high = scope.kind("i32", "i16", "ui8"), scope.lines.fresh("v"), scope.lines.fresh("v")
    types = f"!pto.ptr<{kind}, ub>, index -> {vreg(kind)}, {vreg(kind)}"
    where = f"{scope.source(kind, 512)}[{scope.lines.constant(0)}]"
    scope.lines.say(f'{low}, {high} = pto.vldsx2 {where}, "{scope.chance.choice(PAIRS)}" : {types}')
    for name in (low, high)[: scope.chance.randint(1, 2)]:
        scope.show(kind, scope.keep(kind, name))


def stores(scope: Scope) -> None:
    dist = scope.chance.choice(list(STORES))
    width, bits = STORES[dist]
    kind = {"8": "ui8", "16": "i16", "32": "i32"}.get(dist.rpartition("_B")[2], "i32")
    if dist.startswith(("NORM", "1PT")):
        bits = 8 * size_of(kind)
    value, mask, pointer = scope.register(kind), scope.mask(bits), scope.target(kind, width, max(min(width, 32), 4))
    types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, !pto.mask<b{bits}>"
    scope.lines.say(f'pto.vsts {value}, {pointer}[{scope.lines.constant(0)}], {mask} {{dist = "{dist}"}} : {types}')


def pair_stores(scope: Scope) -> None:
    kind = scope.kind("i32", "i16", "ui8")
    one, two, mask = scope.register(kind), scope.register(kind), scope.mask(8 * size_of(kind))
    types = f"{vreg(kind)}, {vreg(kind)}, !pto.ptr<{kind}, ub>, index, {mask_of(kind)}"
    where = f'{scope.target(kind, 512)}[{scope.lines.constant(0)}], "INTLV_B{8 * size_of(kind)}"'
    scope.lines.say(f"pto.vstsx2 {one}, {two}, {where}, {mask} : {types}")


def blocks(scope: Scope) -> None:
    kind, step = scope.kind("i32", "f16", "ui8"), scope.lines.constant(scope.chance.choice((0, 1, 2)), "i16")
    first, mask = scope.lines.constant(scope.chance.choice((0, 1)), "i16"), scope.mask(8 * size_of(kind))
    if scope.lines.likely(0.5):
        types = f"!pto.ptr<{kind}, ub>, i16, i16, {mask_of(kind)} -> {vreg(kind)}"
        text = f"pto.vsldb {scope.source(kind, 544)}, {step}, {first}, {mask} : {types}"
        scope.show(kind, scope.keep(kind, scope.lines.value("v", text)))
        return
    types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, i16, i16, {mask_of(kind)}"
    scope.lines.say(f"pto.vsstb {scope.register(kind)}, {scope.target(kind, 544)}, {step}, {first}, {mask} : {types}")


# --- streams ----------------------------------------------------------------------------------------------------------


def load_stream(scope: Scope) -> None:
    kind = scope.kind("i32", "i16", "ui8")
    if scope.lines.likely(0.3):
        offset = scope.lines.constant(scope.chance.randrange(20))
        text = f"pto.uvld {scope.source(kind, 512)}[{offset}] : !pto.ptr<{kind}, ub> -> {vreg(kind)}"
        scope.show(kind, scope.lines.value("v", text))
        return
    pointer = scope.source(kind, 640, size_of(kind))
    align = scope.lines.value("a", f"pto.vldas {pointer} : !pto.ptr<{kind}, ub> -> !pto.align")
    for _ in range(scope.chance.randint(1, 2)):
        name, after, following = (scope.lines.fresh(letter) for letter in "vap")
        types = f"!pto.ptr<{kind}, ub>, !pto.align, index -> {vreg(kind)}, !pto.align, !pto.ptr<{kind}, ub>"
        step = scope.lines.constant(256 // size_of(kind))
        scope.lines.say(f"{name}, {after}, {following} = pto.vldus {pointer}, {align}, {step} : {types}")
        align, pointer = after, following
        scope.show(kind, name)


def store_stream(scope: Scope) -> None:
    kind, align = scope.kind("i32", "i16", "ui8"), scope.lines.value("a", "pto.init_align : !pto.align")
    pointer = scope.target(kind, 768, size_of(kind))
    for _ in range(scope.chance.randint(1, 3)):
        after, following = scope.lines.fresh("a"), scope.lines.fresh("p")
        types = f"!pto.align, i32, {vreg(kind)}, !pto.ptr<{kind}, ub> -> !pto.align, !pto.ptr<{kind}, ub>"
        count, value = scope.count(256 // size_of(kind)), scope.register(kind)
        scope.lines.say(f"{after}, {following} = pto.vstus {align}, {count}, {value}, {pointer} : {types}")
        align, pointer = after, following
    types = f"!pto.align, !pto.ptr<{kind}, ub>, i32"
    scope.lines.say(f"pto.vstas {align}, {pointer}, {scope.lines.constant(0, 'i32')} : {types}")


def squeezes(scope: Scope) -> None:
    """AR goes on from earlier scopes, now and then."""
    kind, word = scope.kind("i32", "i16", "ui8"), "POST_UPDATE" if scope.lines.likely(0.8) else "NO_POST_UPDATE"
    if scope.lines.likely(0.8):
        scope.lines.say('pto.sprclr "AR"')
    pointer, align = scope.target(kind, 768, size_of(kind)), scope.lines.value("a", "pto.init_align : !pto.align")
    for _ in range(scope.chance.randint(1, 2) if word == "POST_UPDATE" else 1):
        value = scope.register(kind)
        if scope.lines.likely(0.8):
            types = f"{vreg(kind)}, {mask_of(kind)} -> {vreg(kind)}"
            name = "vusqz" if kind != "ui8" and scope.lines.likely(0.2) else "vsqz"
            made = scope.lines.value("v", f"pto.{name} {value}, {scope.mask(8 * size_of(kind))} : {types}")
            value = made if scope.lines.likely(0.7) else value
        types = f"!pto.align, {vreg(kind)}, !pto.ptr<{kind}, ub> -> !pto.align"
        align = scope.lines.value("a", f'pto.vstur {align}, {value}, {pointer}, "{word}" : {types}')
    if word == "POST_UPDATE":
        scope.lines.say(f"pto.vstar {align}, {pointer} : !pto.align, !pto.ptr<{kind}, ub>")
    else:
        scope.lines.say(
            f"pto.vstas {align}, {pointer}, {scope.lines.constant(0, 'i32')} : !pto.align, !pto.ptr<{kind}, ub>, i32"
        )


def mask_stream(scope: Scope) -> None:
    width = scope.chance.choice((16, 32))
    kind, align = f"ui{width}", scope.lines.value("a", "pto.init_align : !pto.align")
    pointer = scope.target(kind, 64, size_of(kind))
    for _ in range(scope.chance.randint(1, 3)):
        after, following = scope.lines.fresh("a"), scope.lines.fresh("p")
        types = f"!pto.align, !pto.mask<b{width}>, !pto.ptr<{kind}, ub> -> !pto.align, !pto.ptr<{kind}, ub>"
        scope.lines.say(f"{after}, {following} = pto.pstu {align}, {scope.mask(width)}, {pointer} : {types}")
        align, pointer = after, following
    types = f"!pto.align, !pto.ptr<{kind}, ub>, i32"
    scope.lines.say(f"pto.vstas {align}, {pointer}, {scope.lines.constant(0, 'i32')} : {types}")


# --- gathers ----------------------------------------------------------------------------------------------------------


def gathers(scope: Scope) -> None:
    kind, offset = scope.chance.choice((("i32", "i32"), ("f32", "i32"), ("i16", "i16")))
    offsets, mask = scope.offsets(offset, 64), scope.mask(8 * size_of(offset))
    name = scope.chance.choice(("vgather2", "vgather2_bc") if kind != "i16" else ("vgather2",))
    types = f"!pto.ptr<{kind}, ub>, {vreg(offset)}, {mask_of(offset)} -> {vreg(kind)}"
    text = f"pto.{name} {scope.source(kind, 256)}, {offsets}, {mask} : {types}"
    scope.show(kind, scope.keep(kind, scope.lines.value("v", text)))


def block_gathers(scope: Scope) -> None:
    every = scope.lines.value("m", 'pto.pset_b32 "PAT_ALL" : !pto.mask<b32>')
    types = f"{vreg('i32')}, i16, !pto.mask<b32> -> {vreg('i32')}"
    bytes_ = scope.lines.value(
        "v", f"pto.vshls {scope.offsets('i32', 8)}, {scope.lines.constant(5, 'i16')}, {every} : {types}"
    )
    types = f"!pto.ptr<i32, ub>, {vreg('i32')}, !pto.mask<b32> -> {vreg('i32')}"
    text = f"pto.vgatherb {scope.source('i32', 256)}, {bytes_}, {scope.mask(32)} : {types}"
    scope.show("i32", scope.keep("i32", scope.lines.value("v", text)))


def scatters(scope: Scope) -> None:
    kind = scope.kind("i32", "f32")
    types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, {vreg('i32')}, !pto.mask<b32>"
    value, offsets, mask = scope.register(kind), scope.offsets("i32", 64), scope.mask(32)
    scope.lines.say(f"pto.vscatter {value}, {scope.target(kind, 256)}, {offsets}, {mask} : {types}")


# --- masks, scalars, special registers --------------------------------------------------------------------------------


def mask_memory(scope: Scope) -> None:
    width, dist = scope.chance.choice((8, 16, 32)), scope.chance.choice((("NORM", 32), ("US", 16), ("DS", 64)))
    name = scope.chance.choice(("plds", "pldi"))
    pointer, zero = scope.source("ui8", dist[1]), scope.lines.constant(0)
    loaded = f'pto.{name} {pointer}[{zero}], "{dist[0]}" : !pto.ptr<ui8, ub>, index -> !pto.mask<b{width}>'
    scope.masks.setdefault(width, []).append(scope.lines.value("m", loaded))
    where = f'{scope.target("ui8", 32)}[{zero}], "{scope.chance.choice(("NORM", "PK"))}"'
    types = f"!pto.mask<b{width}>, !pto.ptr<ui8, ub>, index"
    scope.lines.say(f"pto.{scope.chance.choice(('psts', 'psti'))} {scope.mask(width)}, {where} : {types}")


def scalars(scope: Scope) -> None:
    kind = scope.kind("i32", "f32", "i16")
    word, mask = scope.scalar(kind), scope.mask(8 * size_of(kind))
    if scope.lines.likely(0.5):
        types = f"{kind}, {mask_of(kind)} -> {vreg(kind)}"
        scope.show(kind, scope.lines.value("v", f"pto.vdup {word}, {mask} : {types}"))
    else:
        pointer = scope.target(kind, 4, 4)
        scope.lines.say(f"pto.store_scalar {word}, {pointer}[{scope.lines.constant(0)}] : !pto.ptr<{kind}, ub>, {kind}")


def scalar_control(scope: Scope) -> None:
    """A number from memory decides whether, how often or where something is done."""
    lines, number = scope.lines, scope.count(3)
    index = lines.value("s", f"arith.index_cast {number} : i32 to index")
    reach = {kind: list(names) for kind, names in scope.registers.items()}, {w: list(n) for w, n in scope.masks.items()}
    if lines.likely(0.4):
        lines.say(f"scf.for {lines.fresh('i')} = {lines.constant(0)} to {index} step {lines.constant(1)} {{")
    else:
        flag = lines.value("s", f"arith.cmpi eq, {index}, {lines.constant(1)} : index")
        lines.say(f"scf.if {flag} {{")
    lines.depth += 1
    scope.chance.choice(PLAIN)(scope)
    lines.depth -= 1
    lines.say("}")
    scope.registers, scope.masks = reach


def address_register(scope: Scope) -> None:
    zero = scope.lines.constant(0, "i32")
    name = scope.chance.choice(("sprsts", "sprsti"))
    scope.lines.say(f'pto.{name} "AR", {scope.target("i32", 4, 4)}[{zero}] : !pto.ptr<i32, ub>, i32')


def carried(scope: Scope) -> None:
    """A loop that carries a register and a mask."""
    lines, kind = scope.lines, scope.kind("i32", "i16")
    value, mask, type_ = scope.register(kind), scope.mask(8 * size_of(kind)), mask_of(kind)
    every = lines.value("m", f'pto.pset_b{8 * size_of(kind)} "PAT_ALL" : {type_}')
    result, loop, inner, gate = (lines.fresh(letter) for letter in "rivm")
    types = f"{vreg(kind)}, {type_}"
    opening = f"{result}:2 = scf.for {loop} = {lines.constant(0)} to {lines.constant(3)} step {lines.constant(1)}"
    lines.say(f"{opening} iter_args({inner} = {value}, {gate} = {mask}) -> ({types}) {{")
    lines.depth += 1
    one = f"{vreg(kind)}, {vreg(kind)}, {type_} -> {vreg(kind)}"
    sum_ = lines.value("v", f"pto.vadd {inner}, {value}, {gate} : {one}")
    turned = lines.value("m", f"pto.pnot {gate}, {every} : {type_}, {type_} -> {type_}")
    lines.say(f"scf.yield {sum_}, {turned} : {types}")
    lines.depth -= 1
    lines.say("}")
    scope.show(kind, f"{result}#0")
    scope.show_mask(8 * size_of(kind), f"{result}#1")


# --- instructions on registers and masks ------------------------------------------------------------------------------


@cache
def _mask_cases() -> tuple[tuple[str, ...], ...]:
    """Of one line; there are no constants with a sign."""
    found = (
        tuple(text for text in texts if not re.search("\n|[su]i32", text)) for texts in predicate_cases.cases().values()
    )
    return tuple(texts for texts in found if texts)


def _type(type_: str) -> str:
    match type_[0]:
        case "V":
            return vreg(type_[2:-1])
        case "M":
            return f"!pto.mask<{type_[2:-1]}>"
        case _:
            return type_


def _performed(scope: Scope, body: str, operands: Mapping[str, str], results: tuple[str, ...]) -> None:
    given = {name: _operand(scope, type_) for name, type_ in operands.items()}
    names = [scope.lines.fresh("v") for _ in results]
    text = _VALUE.sub(lambda match: given[match[0]], body)
    types = f"{', '.join(map(_type, operands.values()))} -> {', '.join(map(_type, results))}"
    scope.lines.say(f"{', '.join(names)} = {text} : {types}")
    for name, type_ in zip(names, results, strict=True):
        if type_.startswith("V<") and size_of(type_[2:-1]) <= 4:
            scope.show(type_[2:-1], scope.keep(type_[2:-1], name))
        elif type_.startswith("M<"):
            scope.masks.setdefault(int(type_[3:-1]), []).append(name)
            scope.show_mask(int(type_[3:-1]), name)


def _operand(scope: Scope, type_: str) -> str:
    if type_.startswith("V<"):
        return scope.register(type_[2:-1])
    if type_.startswith("M<"):
        return scope.mask(int(type_[3:-1]))
    if type_ in ("i32", "i16", "f32") and scope.lines.likely(0.3):
        return scope.scalar(type_)
    return scope.lines.constant(
        scope.chance.choice(("0.5", "1.5")) if "f" in type_ else scope.chance.randint(0, 9), type_
    )


def registers(scope: Scope) -> None:
    case = scope.chance.choice(scope.chance.choice(register_cases()))
    _performed(scope, case.body, dict(case.operands), case.results)


def predicates(scope: Scope) -> None:
    text = scope.chance.choice(scope.chance.choice(_mask_cases()))
    left, _, right = text.partition(" = ")
    body, _, types = right.partition(" : ")
    before, _, after = types.partition(" -> ")
    names = _VALUE.findall(body)
    if len(names) == len(before.split(", ")) and left:
        _performed(scope, body, dict(zip(names, before.split(", "), strict=True)), tuple(after.split(", ")))


Feature = Callable[[Scope], None]
PLAIN: tuple[Feature, ...] = (loads, stores, blocks, pair_loads, pair_stores, registers, gathers, scatters, mask_memory)
FEATURES: dict[str, Feature] = {
    each.__name__: each
    for each in (
        *PLAIN,
        load_stream,
        store_stream,
        squeezes,
        mask_stream,
        block_gathers,
        scalars,
        scalar_control,
        address_register,
        carried,
        predicates,
    )
}
