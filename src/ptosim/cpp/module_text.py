"""A folded recording as the text of a module: tiles with their addresses, flags as written, nothing inserted.

Each operation says the place in the C++ file that issued it, so that everything said of it is said there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ptosim.cpp.columns import Column, ColumnSum, closed
from ptosim.cpp.event_order import with_flags
from ptosim.cpp.fold import FoldedStep, Node, fold, length
from ptosim.cpp.forms import KIND_SIZES, OperationForm
from ptosim.cpp.operand_text import OperandValues, TensorHandle, TextScope, TileHandle, pointer, width
from ptosim.cpp.planned_tiles import operand_columns, sizes_in_parts, tile_numbers
from ptosim.cpp.recording import KernelRecording, RecordedBlock
from ptosim.places import Location

_REFERENCE = re.compile(r"([$#@])(\d+)|%(r|list)\b")
_HANDS_OVER = "answer"
_MEMORIES = {"ub": "vec", "l1": "mat", "l0a": "left", "l0b": "right"}
_CUBE = frozenset({"left", "right", "acc", "bias", "scaling"})


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of the kernel: its name and its `.pto` type."""

    name: str
    type: str
    element: str


def core_kind(recording: KernelRecording) -> str | None:
    """The kind of core whose tiles the recording has; None where it has those of both."""
    kinds = [kind for line in recording.forms for kind in OperationForm.of(line).kinds]
    places = {kind[1] for kind in kinds if kind[0] == "T"} | {_MEMORIES[kind[2]] for kind in kinds if kind[0] == "A"}
    if "vec" in places:
        return None if places & _CUBE else "vector"
    return "cube" if places else "vector"


def module_text(target: str, functions: Sequence[str], aliases: Sequence[str]) -> str:
    """A module of functions."""
    body = "\n".join(functions)
    return f'module attributes {{pto.target_arch = "{target}", pto.rules = "library"}} {{\n{body}\n}}\n' + "".join(
        aliases
    )


class PlaceAliases:
    """`loc(...)` of operations, as aliases at the end of the text."""

    def __init__(self) -> None:
        self.aliases: list[str] = []
        self._known: dict[Location, str] = {}

    def of(self, place: Location | None) -> str:
        if place is None:
            return ""
        if place not in self._known:
            self._known[place] = f"#place{len(self._known)}"
            inner = _location(place)
            for call in place.calls:
                inner = f"callsite({inner} at {_location(call)})"
            self.aliases.append(f"{self._known[place]} = loc({inner})\n")
        return f" loc({self._known[place]})"


def _location(place: Location) -> str:
    file = place.file.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{file}":{place.line}:{place.column} to :{place.column + place.length}'


@dataclass(frozen=True)
class BlockGroup:
    """Blocks that issue the same operations, and where the values of each begin."""

    blocks: tuple[RecordedBlock, ...]
    nodes: tuple[Node, ...]
    tokens: Sequence[int]
    """The different operations: form and site."""
    arguments: Sequence[tuple[int, ...]]
    """The arguments that the global tensors of each lie in."""
    offsets: Column
    values: Column


class FunctionText:
    """One function: the blocks of one kind of core."""

    def __init__(
        self, name: str, kind: str | None, parameters: Sequence[KernelParameter], places: PlaceAliases, halves: int = 1
    ) -> None:
        self.name = name
        self.kind = kind
        self.parameters = parameters
        self.places = places
        self.halves = halves
        self.values = OperandValues()
        self.outermost = TextScope(0)
        self.openings: list[str] = []
        """FIFOs that are set up before anything else."""

    def text(self, recordings: Sequence[KernelRecording]) -> str:
        """The function for the recordings of all halves of the core."""
        recording, blocks = _joined([with_flags(each) for each in recordings])
        self.forms = [OperationForm.of(line) for line in recording.forms]
        self.sites = recording.sites
        self.values.parts = _parts(blocks, self.forms)
        groups = _grouped(blocks, self.forms)
        scope = self.outermost
        self.values.scopes = [scope]
        turn = self._turn(scope, len(blocks))
        if len(groups) == 1:
            self.values.turns = [turn]
            self._nodes(groups[0], groups[0].nodes, ())
            body = [*scope.needs, *self.openings, *scope.steps]
        else:
            body = self._branches(scope, groups, turn)
        parameters = ", ".join(f"%{each.name}: {each.type}" for each in self.parameters)
        marks = [] if self.kind is None else [f"pto.kernel_kind = #pto.kernel_kind<{self.kind}>"]
        attributes = f" attributes {{{', '.join(marks)}}}" if marks else ""
        lines = "".join(f"    {line}\n" for line in body)
        return f"  func.func @{self.name}({parameters}){attributes} {{\n{lines}    return\n  }}"

    def _turn(self, scope: TextScope, blocks: int) -> str:
        """The number of the block, or with halves of the core that runs."""
        if blocks == 1:
            return self.values.constant(0, "index")
        found = self.values.once(0, "block", "pto.get_block_idx : i64")
        block = self.values.once(0, "block", f"arith.index_cast {found} : i64 to index")
        if self.halves == 1:
            return block
        found = self.values.once(0, "half", "pto.get_subblock_idx : i64")
        half = self.values.once(0, "half", f"arith.index_cast {found} : i64 to index")
        first = self.values.once(
            0, "block", f"arith.muli {block}, {self.values.constant(self.halves, 'index')} : index"
        )
        return self.values.once(0, "block", f"arith.addi {first}, {half} : index")

    def _branches(self, scope: TextScope, groups: Sequence[BlockGroup], turn: str) -> list[str]:
        """Blocks that issue different operations: each group is a branch of its own."""
        which = np.zeros(sum(len(group.blocks) for group in groups), np.int64)
        order = np.zeros(len(which), np.int64)
        for number, group in enumerate(groups):
            for position, block in enumerate(group.blocks):
                which[block.number], order[block.number] = number, position
        values = self.values
        values.turns = [turn]
        chosen, own = (values.index(closed(column)) for column in (which, order))
        numbers = [values.constant(number, "index") for number in range(len(groups))]
        tests = [values.once(0, "is", f"arith.cmpi eq, {chosen}, {number} : index") for number in numbers]
        lines = list[str]()
        for test, group in zip(tests, groups, strict=True):
            branch = TextScope(0, known=dict(scope.known))
            values.scopes, values.turns = [branch], [own]
            self._nodes(group, group.nodes, ())
            lines += [f"scf.if {test} {{", *(f"  {line}" for line in (*branch.needs, *branch.steps)), "}"]
        return [*scope.needs, *self.openings, *scope.steps, *lines]

    def _nodes(
        self, group: BlockGroup, nodes: Sequence[Node], loops: tuple[tuple[int, int], ...], start: int = 0
    ) -> None:
        """Write nodes. `loops`: count and length of each loop around; `start`: the first operation of these nodes in
        the first turn."""
        for node in nodes:
            if isinstance(node, FoldedStep):
                self._step(group, node.symbol, loops, start)
            else:
                self._loop(group, node.count, node.body, loops, start)
            start += length(node)

    def _loop(
        self, group: BlockGroup, count: int, body: Sequence[Node], loops: tuple[tuple[int, int], ...], start: int
    ) -> None:
        values = self.values
        outer, depth = values.scopes[-1], len(loops) + 1
        bounds = [values.constant(number, "index") for number in (0, count, 1)]
        name, inner = values.new("i"), TextScope(depth)
        values.scopes.append(inner)
        values.turns.append(name)
        self._nodes(group, body, (*loops, (count, sum(map(length, body)))), start)
        values.scopes.pop()
        values.turns.pop()
        outer.steps.append(f"scf.for {name} = {bounds[0]} to {bounds[1]} step {bounds[2]} {{")
        outer.steps += [f"  {line}" for line in (*inner.needs, *inner.steps)]
        outer.steps.append("}")

    def _step(self, group: BlockGroup, symbol: int, loops: tuple[tuple[int, int], ...], start: int) -> None:
        token = group.tokens[symbol]
        form, place = self.forms[token >> 32], self.places.of(self.sites[token & 0xFFFFFFFF])
        positions = np.array(start)
        for count, size in loops:
            positions = positions[..., np.newaxis] + np.arange(count) * size
        at = group.offsets[positions]
        columns = [closed(group.values[:, at + number]) for number in range(form.size)]
        self.values.scopes[-1].steps += self._written(form, columns, group.arguments[symbol], place)

    def _written(
        self, form: OperationForm, columns: Sequence[ColumnSum], arguments: Sequence[int], place: str
    ) -> list[str]:
        word, _, rest = form.text.partition(" ")
        if word == _HANDS_OVER:
            slot, _, text = rest.partition(" ")
            lines = self._written(OperationForm(text, form.kinds), columns, arguments, place)
            return [*lines, *self._handed_over(form, lines[-1].partition(" ")[0], int(slot))]
        if not form.text.startswith(("pto.", "%r", "merge", "init")):
            return [f"{self._signal(form.text.split(), columns[0])}{place}"]
        scopes = self.values.scopes
        if word == "init" and not any(column.terms for column in columns):  # it stands in front of all branches
            self.values.scopes, self.values.is_ahead = [self.outermost], scopes[0] is not self.outermost
        names, types, elements = list[str](), list[str](), list[str]()
        at, following = 0, iter(arguments)
        for kind in form.kinds:
            size = KIND_SIZES.get(kind[0], 1)
            name, type_, element = self._operand(kind, columns[at : at + size], following, place)
            names.append(name)
            types.append(type_)
            elements.append(element)
            at += size
        self.values.scopes, self.values.is_ahead = scopes, False
        result = self.values.new("r")
        text = rest if word in ("merge", "init") else form.text

        def filled(found: re.Match[str]) -> str:
            if found[3]:
                return result
            return {"$": names, "#": types, "@": elements}[found[1]][int(found[2])]

        lines = [_REFERENCE.sub(filled, line) + place for line in text.split("\n")]
        if word == "merge":
            lines.insert(0, f"{result} = arith.constant dense<0> : vector<4xi16>")
        if word == "init":  # once for the function, whatever its blocks do
            self.openings += [line for line in lines if line not in self.openings]
            return []
        return lines

    def _handed_over(self, form: OperationForm, result: str, slot: int) -> list[str]:
        """Store the result of an operation, or of a merge how far it came with each list, to the last argument."""
        values, answer, lines = self.values, self.parameters[-1], list[str]()
        if form.kinds[0][0] == "T" and result.startswith("%"):
            element, names = _scalar_type(form.kinds[0][2]), [result]
        else:
            element, names = "i16", [values.new("n") for _ in range(4)]
            lines += ["pto.barrier <PIPE_ALL>", f"{', '.join(names)} = pto.get_vms4_sr : i16, i16, i16, i16"]
        one, place = values.constant(1, "i64"), values.constant(2 * slot + 1, "index")
        to = values.new("to")
        type_ = f"!pto.ptr<{element}, gm>"
        lines.append(f"{to} = pto.castptr %{answer.name} : {answer.type} -> {type_}")
        for number, name in enumerate(names):
            at = values.constant(2 * slot * 8 // width(element) + number, "index")
            lines.append(f"pto.store_scalar {name}, {to}[{at}] : {type_}, {element}")
        return [*lines, f"pto.store_scalar {one}, %{answer.name}[{place}] : {answer.type}, i64"]

    def _operand(
        self, kind: Sequence[str], columns: Sequence[ColumnSum], arguments: Iterator[int], place: str
    ) -> tuple[str, str, str]:
        values = self.values
        if kind[0] == "T":
            tile = TileHandle.of(kind[1:])
            return tile.written(values, columns, place), tile.type, _scalar_type(tile.element)
        if kind[0] == "G":
            argument = next(arguments)
            parameter = self.parameters[argument]
            name, type_ = TensorHandle(kind[1], kind[2]).written(
                values, (f"%{parameter.name}", parameter.element), columns[1:], place
            )
            return name, type_, kind[1]
        if kind[0] == "P":
            parameter = self.parameters[next(arguments)]
            given = (f"%{parameter.name}", parameter.element)
            return pointer(values, given, columns[1], kind[1], place), f"!pto.ptr<{kind[1]}, gm>", kind[1]
        if kind[0] == "A":
            type_ = f"!pto.ptr<{kind[1]}, {kind[2]}>"
            cast = f"pto.castptr {values.word(columns[0], 'i64')} : i64 -> {type_}"
            return values.once(values.depth_of(columns), "p", cast, place), type_, kind[1]
        if kind[0] == "I":
            return values.index(columns[0]), "index", "index"
        type_ = _scalar_type(kind[1])
        return values.word(columns[0], kind[1]), type_, type_

    def _signal(self, words: Sequence[str], id: ColumnSum) -> str:
        """Flags, buffers and signals, with an id that is known or one that the run works out."""
        word, *rest = words
        known = None if id.terms else id.base
        if word in ("set_flag", "wait_flag"):
            source, target = rest
            if known is not None and 0 <= known < 16:
                return f'pto.{word}["PIPE_{source}", "PIPE_{target}", "EVENT_ID{known}"]'
            return f'pto.{word}_dyn["PIPE_{source}", "PIPE_{target}", {self.values.index(id)}]'
        if word in ("get_buf", "rls_buf"):
            pipe, mode = rest
            if known is not None:
                return f'pto.{word} "PIPE_{pipe}", {known}, {mode}'
            return f'pto.{word}_dyn "PIPE_{pipe}", {self.values.index(id)}, {mode} : index'
        shown = str(known) if known is not None else self.values.index(id)
        if word == "intra":
            return f"pto.{rest[0]} <PIPE_{rest[1]}>, {shown}"
        direction, pipe, mode = rest
        return f"pto.sync.{direction} <PIPE_{pipe}>, {shown} {{ffts_mode = {mode} : i32}}"


def handing_over(recording: KernelRecording, number: int, slot: int | None) -> KernelRecording:
    """The recording of one block alone. With a slot, its last operation stores its result there, in the last argument:
    two words for each slot, of which the second says that the first is known."""
    block = replace(next(each for each in recording.blocks if each.number == number), number=0)
    if slot is None:
        return replace(recording, blocks=(block,))
    last = int(block.tokens[-1])
    # a form of its own: earlier questions at the same place may become a loop, and this one is behind it
    tokens = np.append(block.tokens[:-1], len(recording.forms) << 32 | last & 0xFFFFFFFF)
    forms = (*recording.forms, f"{_HANDS_OVER} {slot} {recording.forms[last >> 32]}")
    return replace(recording, forms=forms, blocks=(replace(block, tokens=tokens),))


def _scalar_type(element: str) -> str:
    return element.replace("ui", "i", 1) if element.startswith("ui") else element


def _joined(recordings: Sequence[KernelRecording]) -> tuple[KernelRecording, list[RecordedBlock]]:
    """Recordings of the halves of a core as one: blocks and halves are counted together."""
    if len(recordings) == 1:
        return recordings[0], list(recordings[0].blocks)
    forms, sites = dict[str, int](), list[Location | None]()
    blocks = list[RecordedBlock]()
    for half, each in enumerate(recordings):
        numbers = np.array([forms.setdefault(form, len(forms)) for form in each.forms], np.int64)
        first = len(sites)
        sites += each.sites
        for block in each.blocks:
            tokens = (numbers[block.tokens >> 32] << 32) | ((block.tokens & 0xFFFFFFFF) + first)
            blocks.append(RecordedBlock(block.number * len(recordings) + half, tokens, block.values))
    sites, renumbered = _distinct(sites)
    blocks = [
        RecordedBlock(each.number, (each.tokens >> 32 << 32) | renumbered[each.tokens & 0xFFFFFFFF], each.values)
        for each in blocks
    ]
    found = KernelRecording(tuple(forms), tuple(sites), (), (), any(each.reads for each in recordings))
    return found, sorted(blocks, key=lambda block: block.number)


def _distinct(sites: Sequence[Location | None]) -> tuple[list[Location | None], Column]:
    known: dict[Location | None, int] = {}
    numbers = [known.setdefault(site, len(known)) for site in sites]
    return list(known), np.array(numbers, np.int64)


def _grouped(blocks: Sequence[RecordedBlock], forms: Sequence[OperationForm]) -> list[BlockGroup]:
    """Blocks by what they issue; global tensors in different arguments are different operations."""
    groups: dict[bytes, list[tuple[RecordedBlock, Column, Column]]] = {}
    for block in blocks:
        offsets = _offsets(block, forms)
        keys = _with_arguments(block, offsets, forms)
        groups.setdefault(keys.tobytes(), []).append((block, offsets, keys))
    return [_group(members, forms) for members in groups.values()]


def _offsets(block: RecordedBlock, forms: Sequence[OperationForm]) -> Column:
    """The beginning of the values of each operation."""
    sizes = np.array([form.size for form in forms], np.int64)
    return np.concatenate(([0], np.cumsum(sizes[block.tokens >> 32]))) if len(block.tokens) else np.zeros(1, np.int64)


def _parts(blocks: Sequence[RecordedBlock], forms: Sequence[OperationForm]) -> dict[int, int]:
    """The tiles without addresses that are used in parts, with their bytes."""
    columns = [
        (values, TileHandle.of(kind[1:]).bytes)
        for block in blocks
        for operands in operand_columns(block, _offsets(block, forms), forms)
        for kind, _, values in operands
        if kind[0] == "T"
    ]
    return sizes_in_parts(columns)


def _with_arguments(block: RecordedBlock, offsets: Column, forms: Sequence[OperationForm]) -> Column:
    """Tokens that say as well in which arguments the global tensors lie, a column for each of at most two, and which
    tiles are meant that have no addresses."""
    tiles = max((sum(kind[0] == "T" for kind in form.kinds) for form in forms), default=0)
    found = np.zeros((len(block.tokens), 3 + tiles), np.int64)
    found[:, 0] = block.tokens
    for operands in operand_columns(block, offsets, forms):
        at = {"G": 1, "T": 3}
        for kind, mine, values in operands:
            which = "G" if kind[0] in "GP" else kind[0]
            if which in at:
                found[mine, at[which]] = values + 1 if which == "G" else tile_numbers(values)
                at[which] += 1
    return found


def _group(members: Sequence[tuple[RecordedBlock, Column, Column]], forms: Sequence[OperationForm]) -> BlockGroup:
    blocks = tuple(block for block, _, _ in members)
    _, offsets, keys = members[0]
    different, sequence = np.unique(keys, axis=0, return_inverse=True)
    arguments = [tuple(int(word) - 1 for word in row[1:3] if word) for row in different]
    values = (
        np.stack([block.values for block in blocks]) if len(blocks[0].values) else np.zeros((len(blocks), 0), np.int64)
    )
    nodes = fold(sequence.reshape(-1).astype(np.int64)) if len(keys) else ()
    return BlockGroup(blocks, nodes, [int(row[0]) for row in different], arguments, offsets, values)
