"""Random vector scopes: loads, stores, streams, gathers, masks, loops, and any instruction on registers.

The instructions and the types they take come from `vector_cases`. A scope keeps what it reads apart from what it
writes, or puts memory barriers in between, most of the time.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import vector_cases
from program_writer import BUFFERS, KINDS, Writer
from ptosim.effects.element import ELEMENTS

_CASE = re.compile(r"(?P<results>[^=]*) = (?P<body>[^:]*) : (?P<operands>.*) -> (?P<types>.*)")
_VALUE = re.compile(r"%\w+")
_SEEDED = 128
"""Lanes of some gathers and picks come from loaded numbers, made small by a mask of this many less one."""


@dataclass(frozen=True)
class Case:
    """An instruction on registers as `vector_cases` writes it, taken apart."""

    body: str
    operands: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


@cache
def cases() -> tuple[tuple[Case, ...], ...]:
    """The ways to write each instruction with the element types that programs use."""
    found = ([case for text in texts if (case := _parsed(text))] for texts in vector_cases.cases().values())
    return tuple(tuple(instruction) for instruction in found if instruction)


def _parsed(text: str) -> Case | None:
    match = _CASE.fullmatch(text)
    if match is None or "\n" in text:
        return None
    names, types = _VALUE.findall(match["body"]), match["operands"].split(", ")
    results = tuple(match["types"].split(", "))
    if len(names) != len(types) or not all(_known(type_) for type_ in (*types, *results)):
        return None
    return Case(match["body"], tuple(zip(names, types, strict=True)), results)


def _known(type_: str) -> bool:
    """Whether programs use it; there are no constants without a sign."""
    if type_.startswith(("M<", "V<")):
        return type_[0] == "M" or type_[2:-1] in KINDS
    return type_ in KINDS and not type_.startswith("ui")


def lanes(kind: str) -> int:
    return 256 // ELEMENTS[kind].bytes


def vreg(kind: str) -> str:
    return f"!pto.vreg<{lanes(kind)}x{kind}>"


def bits(kind: str) -> int:
    return 8 * ELEMENTS[kind].bytes


@dataclass
class Scope:
    """The values in reach, by type, and the buffers that are read and written."""

    writer: Writer
    readable: list[int]
    writable: list[int]
    fenced: bool
    registers: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    masks: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    written: set[int] = field(default_factory=set[int])

    def fence(self) -> None:
        if self.fenced:
            self.writer.say('pto.mem_bar "VV_ALL"', sync=True)

    def keep(self, kind: str, name: str) -> str:
        self.registers.setdefault(kind, []).append(name)
        return name

    def register(self, kind: str) -> str:
        known = self.registers.get(kind)
        return self.writer.random.choice(known) if known and self.writer.chance(0.85) else load(self, kind)

    def kind(self) -> str:
        """A type, rather one of which there are registers."""
        known = [kind for kind, names in self.registers.items() if names]
        return self.writer.random.choice(known if known and self.writer.chance(0.7) else KINDS[:5])

    def mask(self, width: int) -> str:
        known = self.masks.setdefault(width, [])
        if known and self.writer.chance(0.7):
            return self.writer.random.choice(known)
        name = self.writer.fresh("m")
        if self.writer.chance(0.3):
            count = (
                "%count" if self.writer.chance(0.5) else self.writer.constant(self.writer.random.randint(0, 80), "i32")
            )
            rest = self.writer.fresh("n")
            self.writer.say(f"{name}, {rest} = pto.plt_b{width} {count} : i32 -> !pto.mask<b{width}>, i32")
        else:
            pattern = self.writer.random.choice(("ALL", "ALL", "ALL", "VL8", "VL3", "M3", "H", "ALLF"))
            self.writer.say(f'{name} = pto.pset_b{width} "PAT_{pattern}" : !pto.mask<b{width}>')
        known.append(name)
        return name

    def reach(self) -> tuple[dict[str, list[str]], dict[int, list[str]]]:
        return {kind: list(names) for kind, names in self.registers.items()}, {
            width: list(names) for width, names in self.masks.items()
        }


def scope(writer: Writer, filled: list[int]) -> set[int]:
    """Write a vector scope; gives the buffers that it may have stored to."""
    others = [number for number in range(BUFFERS) if number not in filled]
    fenced = not others or writer.chance(0.2)
    writable = list(range(BUFFERS)) if fenced else others
    state = Scope(writer, filled, writer.random.sample(writable, min(2, len(writable))), fenced)
    if not fenced and writer.chance(0.03):
        state.writable = filled
    with writer.region("pto.vecscope {"):
        load(state, state.kind())
        for _ in range(writer.random.randint(1, 6)):
            writer.random.choices(_STEPS, _WEIGHTS)[0](state)
        store(state)
    return state.written


# --- memory -----------------------------------------------------------------------------------------------------------


def load(state: Scope, kind: str | None = None) -> str:
    writer = state.writer
    kind = kind or state.kind()
    width = ELEMENTS[kind].bytes
    pointer = writer.buffer(writer.random.choice(state.readable), kind)
    state.fence()
    name = writer.fresh("v")
    dist = writer.random.choice(_LOADS[width]) if writer.chance(0.3) else ""
    unit = 1 if dist.startswith("BRC_B") and dist != "BRC_BLK" else 32 // width
    place = writer.offset(unit, 512 // width)
    words = f' {{dist = "{dist}"}}' if dist else ""
    writer.say(f"{name} = pto.vlds {pointer}[{place}]{words} : !pto.ptr<{kind}, ub> -> {vreg(kind)}")
    return state.keep(kind, name)


_LOADS = {
    1: ("BRC_B8", "US_B8", "DS_B8", "UNPK_B8", "BRC_BLK", "UNPK4"),
    2: ("BRC_B16", "US_B16", "DS_B16", "UNPK_B16", "BRC_BLK", "E2B_B16"),
    4: ("BRC_B32", "UNPK_B32", "BRC_BLK", "E2B_B32"),
}
_STORES = {
    1: (("1PT_B8", 8), ("PK_B16", 16), ("PK4_B32", 32)),
    2: (("1PT_B16", 16), ("PK_B32", 32)),
    4: (("1PT_B32", 32),),
}


def _target(state: Scope, kind: str) -> str:
    number = state.writer.random.choice(state.writable)
    state.written.add(number)
    return state.writer.buffer(number, kind)


def store(state: Scope) -> None:
    writer = state.writer
    kind = state.kind()
    width = ELEMENTS[kind].bytes
    register, pointer = state.register(kind), _target(state, kind)
    dist, mask_width = writer.random.choice(_STORES[width]) if writer.chance(0.2) else ("", 8 * width)
    if dist.startswith("1PT"):
        mask_width = 8 * width
    mask = state.mask(mask_width)
    place = writer.offset(32 // width, 512 // width)
    words = f' {{dist = "{dist}"}}' if dist else ""
    state.fence()
    types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, !pto.mask<b{mask_width}>"
    writer.say(f"pto.vsts {register}, {pointer}[{place}], {mask}{words} : {types}")


def pair(state: Scope) -> None:
    """Two registers at once, in or out."""
    writer = state.writer
    kind = state.kind()
    width = ELEMENTS[kind].bytes
    place = writer.offset(32 // width, 512 // width)
    if writer.chance(0.6):
        pointer = writer.buffer(writer.random.choice(state.readable), kind)
        state.fence()
        dist = writer.random.choice((f"DINTLV_B{8 * width}", "BDINTLV"))
        one, two = writer.fresh("v"), writer.fresh("v")
        types = f"!pto.ptr<{kind}, ub>, index -> {vreg(kind)}, {vreg(kind)}"
        writer.say(f'{one}, {two} = pto.vldsx2 {pointer}[{place}], "{dist}" : {types}')
        state.keep(kind, one)
        state.keep(kind, two)
        return
    one, two, mask, pointer = state.register(kind), state.register(kind), state.mask(8 * width), _target(state, kind)
    state.fence()
    types = f"{vreg(kind)}, {vreg(kind)}, !pto.ptr<{kind}, ub>, index, !pto.mask<b{8 * width}>"
    writer.say(f'pto.vstsx2 {one}, {two}, {pointer}[{place}], "INTLV_B{8 * width}", {mask} : {types}')


def stream(state: Scope) -> None:
    """Registers loaded from any element, and a few elements of each stored at any element."""
    writer = state.writer
    kind = state.kind()
    type_, pointer_type = vreg(kind), f"!pto.ptr<{kind}, ub>"
    source = writer.buffer(writer.random.choice(state.readable), kind)
    start = writer.value("p", _advance(source, writer.offset(1, 40), kind))
    state.fence()
    align = writer.value("a", f"pto.vldas {start} : {pointer_type} -> !pto.align")
    target = writer.value("p", _advance(_target(state, kind), writer.offset(1, 40), kind))
    pending = writer.value("a", "pto.init_align : !pto.align")
    for _ in range(writer.random.randint(1, 3)):
        name, next_align, next_start = writer.fresh("v"), writer.fresh("a"), writer.fresh("p")
        writer.say(
            f"{name}, {next_align}, {next_start} = pto.vldus {start}, {align}, {writer.constant(lanes(kind))}"
            f" : {pointer_type}, !pto.align, index -> {type_}, !pto.align, {pointer_type}"
        )
        align, start = next_align, next_start
        state.keep(kind, name)
        state.fence()
        count = writer.constant(writer.random.randint(0, lanes(kind)), "i32")
        next_pending, next_target = writer.fresh("a"), writer.fresh("p")
        writer.say(
            f"{next_pending}, {next_target} = pto.vstus {pending}, {count}, {name}, {target}"
            f" : !pto.align, i32, {type_}, {pointer_type} -> !pto.align, {pointer_type}"
        )
        pending, target = next_pending, next_target
    state.fence()
    if writer.chance(0.95):
        writer.say(f"pto.vstas {pending}, {target}, {writer.constant(0, 'i32')} : !pto.align, {pointer_type}, i32")


def _advance(pointer: str, by: str, kind: str) -> str:
    return f"pto.addptr {pointer}, {by} : !pto.ptr<{kind}, ub> -> !pto.ptr<{kind}, ub>"


def gather(state: Scope) -> None:
    """Lanes from addresses that were loaded, kept inside a buffer; now and then not."""
    writer = state.writer
    kind, index = writer.random.choice((("f32", "i32"), ("i32", "i32"), ("i16", "i16"), ("f16", "ui16")))
    offsets = state.register(index)
    if writer.chance(0.97):
        all_lanes = writer.value("m", f'pto.pset_b{bits(index)} "PAT_ALL" : !pto.mask<b{bits(index)}>')
        plain, mask_type = f"i{bits(index)}", f"!pto.mask<b{bits(index)}>"
        most = writer.value(
            "v", f"pto.vdup {writer.constant(_SEEDED - 1, plain)}, {all_lanes} : {plain}, {mask_type} -> {vreg(index)}"
        )
        types = f"{vreg(index)}, {vreg(index)}, {mask_type} -> {vreg(index)}"
        offsets = writer.value("v", f"pto.vand {offsets}, {most}, {all_lanes} : {types}")
    mask = state.mask(bits(index))
    if writer.chance(0.7):
        pointer = writer.buffer(writer.random.choice(state.readable), kind)
        state.fence()
        types = f"!pto.ptr<{kind}, ub>, {vreg(index)}, !pto.mask<b{bits(index)}> -> {vreg(kind)}"
        state.keep(kind, writer.value("v", f"pto.vgather2 {pointer}, {offsets}, {mask} : {types}"))
        return
    register, pointer = state.register(kind), _target(state, kind)
    state.fence()
    types = f"{vreg(kind)}, !pto.ptr<{kind}, ub>, {vreg(index)}, !pto.mask<b{bits(index)}>"
    writer.say(f"pto.vscatter {register}, {pointer}, {offsets}, {mask} : {types}")


def mask_memory(state: Scope) -> None:
    writer = state.writer
    width = writer.random.choice((8, 16, 32))
    place = writer.offset(32, 256)
    if writer.chance(0.5):
        pointer = writer.buffer(writer.random.choice(state.readable), "ui8")
        state.fence()
        name = writer.value(
            "m", f'pto.plds {pointer}[{place}], "NORM" : !pto.ptr<ui8, ub>, index -> !pto.mask<b{width}>'
        )
        state.masks.setdefault(width, []).append(name)
        return
    mask, pointer = state.mask(width), _target(state, "ui8")
    state.fence()
    writer.say(f'pto.psts {mask}, {pointer}[{place}], "NORM" : !pto.mask<b{width}>, !pto.ptr<ui8, ub>, index')


def scalar(state: Scope) -> None:
    """A number read in the scope, for instructions that take a scalar, and one written."""
    writer = state.writer
    pointer = writer.buffer(writer.random.choice(state.readable), "i32")
    writer.say('pto.mem_bar "SV_ALL"')
    writer.say('pto.mem_bar "VS_ALL"')
    value = writer.value("x", f"pto.load_scalar {pointer}[{writer.offset(1, 15)}] : !pto.ptr<i32, ub> -> i32")
    mask = state.mask(32)
    kind = vreg("i32")
    register = state.register("i32")
    types = f"{kind}, i32, !pto.mask<b32> -> {kind}"
    state.keep("i32", writer.value("v", f"pto.vadds {register}, {value}, {mask} : {types}"))


# --- registers --------------------------------------------------------------------------------------------------------


def compute(state: Scope) -> None:
    """Any instruction on registers, rather one for which there are operands."""
    writer = state.writer
    tries = [writer.random.choice(writer.random.choice(cases())) for _ in range(6)]
    case = min(tries, key=lambda case: sum(_missing(state, type_) for _, type_ in case.operands))
    given = {name: _operand(state, type_) for name, type_ in case.operands}
    results = [writer.fresh("v") for _ in case.results]
    body = _VALUE.sub(lambda match: given[match[0]], case.body)
    operands = ", ".join(_type(type_) for _, type_ in case.operands)
    writer.say(f"{', '.join(results)} = {body} : {operands} -> {', '.join(_type(type_) for type_ in case.results)}")
    for name, type_ in zip(results, case.results, strict=True):
        if type_.startswith("V<"):
            state.keep(type_[2:-1], name)
        else:
            state.masks.setdefault(int(type_[3:-1]), []).append(name)


def _missing(state: Scope, type_: str) -> bool:
    return type_.startswith("V<") and not state.registers.get(type_[2:-1])


def _operand(state: Scope, type_: str) -> str:
    if type_.startswith("V<"):
        return state.register(type_[2:-1])
    if type_.startswith("M<"):
        return state.mask(int(type_[3:-1]))
    if type_ in ("f32", "f16", "bf16"):
        return state.writer.constant(state.writer.random.choice(("0.5", "-2.0", "1.5", "0.0")), type_)
    return state.writer.constant(state.writer.random.randint(0, 9), type_)


def _type(type_: str) -> str:
    if type_.startswith("V<"):
        return vreg(type_[2:-1])
    return f"!pto.mask<{type_[2:-1]}>" if type_.startswith("M<") else type_


def logic(state: Scope) -> None:
    writer = state.writer
    width = writer.random.choice((8, 16, 32))
    word = writer.random.choice(("pand", "por", "pxor"))
    one, two, three = (state.mask(width) for _ in range(3))
    mask = f"!pto.mask<b{width}>"
    name = writer.value("m", f"pto.{word} {one}, {two}, {three} : {mask}, {mask}, {mask} -> {mask}")
    state.masks[width].append(name)


# --- regions ----------------------------------------------------------------------------------------------------------


def _inside(state: Scope, opening: str, body: Callable[[], None], closing: str = "") -> None:
    reach = state.reach()
    with state.writer.region(opening):
        body()
        for _ in range(state.writer.random.randint(1, 2)):
            state.writer.random.choices(_STEPS[:-2], _WEIGHTS[:-2])[0](state)
        store(state)
        if closing:
            state.writer.say(closing)
    state.registers, state.masks = reach


def tail_loop(state: Scope) -> None:
    """A loop over vectors with a mask for what is left of them."""
    writer = state.writer
    width = writer.random.choice((8, 16, 32))
    counter, left, rest, mask, end = (writer.fresh(word) for word in ("i", "l", "l", "m", "e"))
    bounds = f"{writer.constant(0)} to {writer.constant(writer.random.randint(0, 4))} step {writer.constant(1)}"

    def body() -> None:
        writer.indices.append(counter)
        writer.say(f"{mask}, {rest} = pto.plt_b{width} {left} : i32 -> !pto.mask<b{width}>, i32")
        state.masks.setdefault(width, []).append(mask)

    opening = f"{end} = scf.for {counter} = {bounds} iter_args({left} = %count) -> (i32) {{"
    _inside(state, opening, body, f"scf.yield {rest} : i32")


def carried_loop(state: Scope) -> None:
    """A loop that carries a register."""
    writer = state.writer
    kind = state.kind()
    start, mask = state.register(kind), state.mask(bits(kind))
    counter, carried, after, end = (writer.fresh(word) for word in ("i", "v", "v", "v"))
    bounds = f"{writer.constant(0)} to {writer.constant(writer.random.randint(0, 4))} step {writer.constant(1)}"

    def body() -> None:
        writer.indices.append(counter)
        state.keep(kind, carried)
        other = state.register(kind)
        types = f"{vreg(kind)}, {vreg(kind)}, !pto.mask<b{bits(kind)}> -> {vreg(kind)}"
        writer.say(f"{after} = pto.vadd {carried}, {other}, {mask} : {types}")
        state.keep(kind, after)

    opening = f"{end} = scf.for {counter} = {bounds} iter_args({carried} = {start}) -> ({vreg(kind)}) {{"
    _inside(state, opening, body, f"scf.yield {after} : {vreg(kind)}")
    state.keep(kind, end)


_STEPS: tuple[Callable[[Scope], object], ...] = (
    compute,
    load,
    store,
    logic,
    pair,
    stream,
    gather,
    mask_memory,
    scalar,
    tail_loop,
    carried_loop,
)
_WEIGHTS = (12, 2, 2, 1, 1, 1.5, 1.5, 0.7, 0.4, 1.5, 1)
