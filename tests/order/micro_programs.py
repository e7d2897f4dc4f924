"""Random micro programs in five styles, as texts: loops, branches, slots in turn, flags, buffer ids, barriers.

A program is made of copies into UB (MTE2), vector scopes (V) and copies out (MTE3) of tiles of 256 bytes, inside of up
to three loops. `STYLES` names the ways in which it gets its synchronisation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from order.micro_script import TRIPS, Script


@dataclass(frozen=True)
class MicroProgram:
    style: str
    text: str

    @property
    def parameters(self) -> list[str]:
        """Those that are not pointers, in order."""
        return re.findall(r"%(\w+): index", self.text.split("attributes {pto.kernel}")[0])

    def launches(self, most: int = 9, also: Sequence[int] = ()) -> list[tuple[int, ...]]:
        """Small trip counts in all combinations, large ones one at a time, and all ways that branches may go."""
        trips = [name for name in self.parameters if name in TRIPS]
        small = sorted({0, 1, 2, 3, *also})
        found = dict.fromkeys(product(small, repeat=len(trips)))
        for at in range(len(trips)):
            for large, rest in product(range(4, most + 1), product((1, 2), repeat=len(trips) - 1)):
                found[*rest[:at], large, *rest[at:]] = None
        ways = list(product((0, 1), repeat=len(self.parameters) - len(trips)))
        return [(*counts, *way) for counts in found for way in ways]


# --- pipelines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """Work on one pipe that reads one ring of tiles and writes another one; None is GM."""

    pipe: str
    source: int | None
    target: int | None


SHAPES = (
    (Stage("MTE2", None, 0), Stage("MTE3", 0, None)),
    (Stage("MTE2", None, 0), Stage("V", 0, 1), Stage("MTE3", 1, None)),
    (Stage("MTE2", None, 0), Stage("V", 0, 0), Stage("MTE3", 0, None)),
    (Stage("MTE2", None, 0), Stage("V", 0, 1), Stage("V", 1, 2), Stage("MTE3", 2, None)),
)


def pipeline(dice: Random) -> Script:
    """Stages that hand tiles on through rings of slots, in order as one writes it by hand."""
    script = Script(dice)
    depth, slots = dice.choice([1, 1, 2, 2, 3]), dice.choice([1, 2, 2, 2, 3, 4])
    level = dice.randrange(depth)
    """The loop around which the flags that go back are primed."""
    ways = ["number"] if slots == 1 else ["mod", "mod", "counter", "table", "ahead", "arms"]
    way = dice.choice([way for way in ways if way != "arms" or slots == 2])
    stages, apart, is_drained = dice.choice(SHAPES), dice.random() < 0.85, dice.random() < 0.8
    links = _links(stages)
    counter = _counter(script, way, slots)
    bounds = [script.bound() for _ in range(depth)]
    if dice.random() < 0.2:
        bounds[-1] = script.constant(1)

    def nest(at: int) -> None:
        if at == level:
            for source, target, back in links:
                for slot in range(slots if back else 0):
                    script.flag("set", source, target, slot)
        if at == depth:
            _iteration(script, stages, links, (slots, way, apart), counter)
            return
        with script.loop(bounds[at]):
            nest(at + 1)
        if at == level:
            for source, target, back in links:
                for slot in range(slots if back else 0):
                    script.flag("wait", source, target, slot)
            if level and is_drained:
                script.barrier("ALL")

    nest(0)
    return script


def _links(stages: Sequence[Stage]) -> list[tuple[str, str, bool]]:
    """The flags of a pipeline: from the writer of a ring to its reader, and back."""
    found = dict[tuple[str, str, bool], None]()
    for one, other in combinations(stages, 2):
        if one.pipe != other.pipe and one.target is not None and one.target == other.source:
            found[one.pipe, other.pipe, False] = None
            found[other.pipe, one.pipe, True] = None
    return list(found)


def _counter(script: Script, way: str, slots: int) -> str:
    """An array that holds a counter, or the ids of the slots."""
    if way == "counter":
        script.add("%held = pto.declare_local_array -> !pto.local_array<1xi64>")
        script.add(f"pto.local_array_set %held[{script.constant(0)}], {script.long(0)} : !pto.local_array<1xi64>, i64")
    elif way == "table":
        kind = f"!pto.eventid_array<{slots}>"
        script.add(f"%ids = pto.declare_eventid_array -> {kind}")
        for slot in range(slots):
            value = script.constant((slot + 1) % slots)
            script.add(f"pto.eventid_array_set %ids[{script.constant(slot)}], {value} : {kind}, index")
    return way


def _iteration(
    script: Script, stages: Sequence[Stage], links: list[tuple[str, str, bool]], how: tuple[int, str, bool], way: str
) -> None:
    slots, _, apart = how
    zero = script.constant(0)
    if way == "arms":
        with script.block(f"scf.if {script.compared('eq', script.turn(2), zero)}"):
            _stages(script, stages, links, (slots, apart), zero, 0)
        script.lines[-1] = script.lines[-1].replace("}", "} else {")
        script.depth += 1
        _stages(script, stages, links, (slots, apart), script.constant(1), 1)
        script.depth -= 1
        script.add("}")
        return
    slot: str = zero
    id_: str | int = 0
    if way == "counter":
        held = script.new(f"pto.local_array_get %held[{zero}]", "!pto.local_array<1xi64> -> i64")
        id_ = slot = script.new(f"arith.index_cast {held}", "i64 to index")
    elif way != "number":
        id_ = slot = script.turn(slots, script.parameter("p") if way == "ahead" else "")
    if way == "table":
        id_ = script.new(f"pto.eventid_array_get %ids[{slot}]", f"!pto.eventid_array<{slots}> -> index")
    _stages(script, stages, links, (slots, apart), slot, id_)
    if way == "counter":
        following = script.new(f"arith.addi {slot}, {script.constant(1)}")
        rest = script.new(f"arith.remui {following}, {script.constant(slots)}")
        stored = script.new(f"arith.index_cast {rest}", "index to i64")
        script.add(f"pto.local_array_set %held[{zero}], {stored} : !pto.local_array<1xi64>, i64")


def _stages(
    script: Script,
    stages: Sequence[Stage],
    links: list[tuple[str, str, bool]],
    how: tuple[int, bool],
    slot: str,
    id_: str | int,
) -> None:
    """One iteration: each stage waits for those it has a link from, and tells those it has one to."""
    slots, apart = how
    waited = set[tuple[str, str, bool]]()
    for at, stage in enumerate(stages):
        source = script.tile(slot, slots * stage.source) if stage.source is not None else ""
        target = script.tile(slot, slots * stage.target) if stage.target is not None else ""
        for link in links:
            if link[1] == stage.pipe and link not in waited:
                waited.add(link)
                script.flag("wait", link[0], link[1], id_)
        if stage.pipe == "MTE2":
            script.load(target)
        elif stage.pipe == "V":
            script.compute(source, target)
        else:
            if not apart:
                script.barrier("MTE3")
            script.store(source, apart=apart)
        if all(later.pipe != stage.pipe for later in stages[at + 1 :]):
            for link in links:
                if link[0] == stage.pipe:
                    script.flag("set", link[0], link[1], id_)


# --- programs of any shape --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ring:
    """Tiles that are used in turn: their first one, and how many."""

    number: int
    first: int
    slots: int


@dataclass
class Work:
    pipe: str
    reads: Ring | None
    writes: Ring | None
    turns: bool
    """By the index of the innermost loop; else the first slot."""
    apart: bool = True

    def rings(self) -> list[Ring]:
        return [ring for ring in dict.fromkeys((self.reads, self.writes)) if ring is not None]


@dataclass
class Block:
    """A loop or a branch."""

    word: str
    arms: list[list[Work | Block]]

    def works(self) -> list[Work]:
        return [work for arm in self.arms for item in arm for work in works(item)]


Item = Work | Block


def works(item: Item) -> list[Work]:
    return [item] if isinstance(item, Work) else item.works()


def _shape(dice: Random) -> list[Item]:
    rings = [Ring(number, 4 * number, dice.choice([1, 1, 2, 2, 3, 4])) for number in range(dice.randint(1, 3))]

    def work() -> Work:
        pipe = dice.choice(["MTE2", "V", "MTE3"])
        ring, other = dice.choice(rings), dice.choice(rings)
        reads, writes = {"MTE2": (None, ring), "V": (ring, other), "MTE3": (ring, None)}[pipe]
        return Work(pipe, reads, writes, dice.random() < 0.7, dice.random() < 0.85)

    def block(depth: int) -> list[Item]:
        made = list[Item]()
        for _ in range(dice.randint(1, 3)):
            kind = dice.random()
            if kind < 0.3 and depth < 3:
                made.append(Block("for", [block(depth + 1)]))
            elif kind < 0.4 and depth < 3:
                made.append(Block("if", [block(depth + 1), block(depth + 1) if dice.random() < 0.5 else []]))
            else:
                made.append(work())
        return made

    return [*block(0), Block("for", [[*block(1), work(), work()]])] if dice.random() < 0.7 else [*block(0), work()]


class Writer:
    """Writes a program of any shape; a style overrides what stands around its items."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.script = Script(dice)

    def write(self, items: list[Item]) -> Script:
        for item in items:
            self.item(items, item)
        return self.script

    def item(self, items: list[Item], item: Item) -> None:
        if isinstance(item, Work):
            self.work(item)
        elif item.word == "for":
            with self.script.loop(self.script.bound()):
                self.write(item.arms[0])
        else:
            with self.script.block(f"scf.if {self.script.condition()}"):
                self.write(item.arms[0])
            if item.arms[1]:
                self.script.lines[-1] = self.script.lines[-1].replace("}", "} else {")
                self.script.depth += 1
                self.write(item.arms[1])
                self.script.depth -= 1
                self.script.add("}")

    def slot(self, ring: Ring, work: Work) -> str:
        if not self.script.indices or ring.slots == 1 or not work.turns:
            return self.script.constant(0)
        return self.script.turn(ring.slots)

    def work(self, work: Work) -> None:
        script = self.script
        tiles = {ring: script.tile(self.slot(ring, work), ring.first) for ring in work.rings()}
        if work.pipe == "MTE2":
            assert work.writes is not None
            script.load(tiles[work.writes], apart=work.apart)
        elif work.pipe == "V":
            assert work.reads is not None and work.writes is not None
            script.compute(tiles[work.reads], tiles[work.writes])
        else:
            assert work.reads is not None
            script.store(tiles[work.reads], apart=work.apart)


class FreeWriter(Writer):
    """Flags and barriers wherever the dice say, in some programs a barrier of all pipes before almost everything."""

    def __init__(self, dice: Random) -> None:
        super().__init__(dice)
        self.is_careful = dice.random() < 0.4

    def item(self, items: list[Item], item: Item) -> None:
        dice, script = self.dice, self.script
        if self.is_careful and dice.random() < 0.97:
            script.barrier("ALL")
            super().item(items, item)
            return
        source, target = dice.sample(["MTE2", "V", "MTE3"], 2)
        id_, kind = dice.randrange(3), dice.random()
        if kind < 0.35:
            script.flag("set", source, target, id_)
            script.flag("wait", source, target, id_)
        elif kind < 0.5:
            script.barrier(dice.choice(["ALL", "MTE2", "MTE3", "V"]))
        elif kind < 0.6:
            script.flag("set", source, target, id_)
        super().item(items, item)
        if 0.5 <= kind < 0.65:
            script.flag("wait", source, target, id_)


class FlagWriter(Writer):
    """For most two neighbours of a block that share a ring a pair, for most in a loop one that leads back."""

    def __init__(self, dice: Random) -> None:
        super().__init__(dice)
        self.keep = dice.choice([1.0, 1.0, 1.0, 0.9])
        self.is_careful = dice.random() < 0.6
        self.next: dict[tuple[str, str], int] = {}

    def write(self, items: list[Item]) -> Script:
        pairs = list(self._pairs(items))
        for at, item in enumerate(items):
            if self.is_careful and (isinstance(item, Block) or (at and isinstance(items[at - 1], Block))):
                self.script.barrier("ALL")
            elif any(work.pipe in ("MTE2", "MTE3") for work in works(item)) and self.dice.random() < 0.8:
                for pipe in dict.fromkeys(work.pipe for work in works(item) if work.pipe != "V"):
                    self.script.barrier(pipe)
            for _, source, target, id_ in [pair for pair in pairs if pair[0][1] == at]:
                self.script.flag("wait", source, target, id_)
            inside = list(self._back(item)) if isinstance(item, Block) and item.word == "for" else []
            for source, target, id_ in inside:
                self.script.flag("set", source, target, id_)
            if inside and isinstance(item, Block):
                with self.script.loop(self.script.bound()):
                    for source, target, id_ in inside:
                        self.script.flag("wait", source, target, id_)
                    self.write(item.arms[0])
                    if self.is_careful:
                        self.script.barrier("ALL")
                    for source, target, id_ in inside:
                        self.script.flag("set", source, target, id_)
            else:
                self.item(items, item)
            for source, target, id_ in inside:
                self.script.flag("wait", source, target, id_)
            for _, source, target, id_ in [pair for pair in pairs if pair[0][0] == at]:
                self.script.flag("set", source, target, id_)
        return self.script

    def _id(self, source: str, target: str) -> int:
        self.next[source, target] = (self.next.get((source, target), -1) + 1) % 8
        return self.next[source, target] if self.dice.random() < 0.97 else self.dice.randrange(8)

    def _meet(self, one: Work, other: Work) -> bool:
        shared = {ring for ring in one.rings() if ring in other.rings()}
        return one.pipe != other.pipe and any(ring in (one.writes, other.writes) for ring in shared)

    def _pairs(self, items: list[Item]) -> Iterator[tuple[tuple[int, int], str, str, int]]:
        for high, later in enumerate(items):
            for low in range(high):
                ends = {(a.pipe, b.pipe) for a in works(items[low]) for b in works(later) if self._meet(a, b)}
                for source, target in sorted(ends):
                    if self.dice.random() < self.keep:
                        yield (low, high), source, target, self._id(source, target)

    def _back(self, loop: Block) -> Iterator[tuple[str, str, int]]:
        inside = loop.works()
        ends = {(a.pipe, b.pipe) for a in inside for b in inside if self._meet(a, b)}
        for source, target in sorted(ends):
            if self.dice.random() < self.keep:
                yield source, target, self._id(source, target)


class BufferWriter(Writer):
    """Each access gets the ids of its rings and releases them; sometimes ids are those of the slots."""

    def __init__(self, dice: Random) -> None:
        super().__init__(dice)
        self.by_slot = dice.random() < 0.5
        self.barriers = dice.random() < 0.8

    def work(self, work: Work) -> None:
        script = self.script
        if self.barriers and work.pipe != "V":
            script.barrier(work.pipe)
        ids = dict[Ring, str | int]()
        for ring in work.rings():
            slot = self.slot(ring, work) if self.by_slot else ""
            if not slot:
                ids[ring] = ring.first
            else:
                ids[ring] = script.new(f"arith.addi {slot}, {script.constant(ring.first)}")
        for id_ in ids.values():
            script.buffer("get", work.pipe, id_)
        super().work(work)
        for id_ in ids.values():
            script.buffer("rls", work.pipe, id_)


# --- one edit ---------------------------------------------------------------------------------------------------------

ORDERING = re.compile(r"\s*pto\.(set_flag|wait_flag|get_buf|rls_buf|barrier)")


def edited(dice: Random, text: str) -> str:
    """The text with one line of its order dropped, written twice, moved, or changed."""
    lines = text.split("\n")
    at = dice.choice([number for number, line in enumerate(lines) if ORDERING.match(line)])
    line = lines[at]
    match dice.choice(["drop", "twice", "move", "move", "id", "turn", "half"]):
        case "drop":
            del lines[at]
        case "twice":
            lines.insert(at, line)
        case "move":
            del lines[at]
            lines.insert(max(5, at + dice.choice([-4, -2, -1, 1, 2, 4])), line)
        case "id":
            lines[at] = re.sub(r"EVENT_ID\d", f"EVENT_ID{dice.randrange(4)}", line)
        case "turn":
            lines[at] = re.sub(r'\["(\w+)", "(\w+)"', r'["\2", "\1"', line)
        case _:
            words = {"set_flag": "wait_flag", "wait_flag": "set_flag", "get_buf": "rls_buf", "rls_buf": "get_buf"}
            lines[at] = re.sub("|".join(words), lambda found: words[found[0]], line)
    return "\n".join(lines)


def _free(dice: Random) -> str:
    return FreeWriter(dice).write(_shape(dice)).text(dice.random() < 0.7)


def _flags(dice: Random) -> str:
    return FlagWriter(dice).write(_shape(dice)).text(dice.random() < 0.7)


def _buffers(dice: Random) -> str:
    return BufferWriter(dice).write(_shape(dice)).text(dice.random() < 0.7)


def _pipeline(dice: Random) -> str:
    return pipeline(dice).text(dice.random() < 0.7)


def _edited(dice: Random) -> str:
    return edited(dice, _pipeline(dice))


STYLES: dict[str, Callable[[Random], str]] = {
    "free": _free,
    "flags": _flags,
    "buffers": _buffers,
    "pipeline": _pipeline,
    "edited": _edited,
}


def micro_program(seed: int, number: int) -> MicroProgram:
    """One of an endless supply: the styles take turns."""
    style = list(STYLES)[number % len(STYLES)]
    return MicroProgram(style, STYLES[style](Random(f"{seed} {number}")))
