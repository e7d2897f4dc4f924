"""Repairs for `load, compute, store` by several workitems at one place: one atomic update in place of the three."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ptosim.diagnostics import Diagnostic
from ptosim.language.micro.pointer import ElementLoad, ElementStore
from ptosim.language.rules.operand_rules import constant_of
from ptosim.repair.proposal import Proposal
from ptosim.sanitize.program import WrittenProgram

UPDATES = {
    "arith.addi": "add",
    "arith.addf": "add",
    "arith.subi": "sub",
    "arith.subf": "sub",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
    "arith.maxsi": "max signed",
    "arith.minsi": "min signed",
    "arith.maxui": "max unsigned",
    "arith.minui": "min unsigned",
}
"""The atomic update that an operation becomes, and the word behind it."""
TYPES = ("i32", "i64", "f16", "bf16", "f32")
_STORE = re.compile(r"pto\.\w+\s+%[\w$.-]+,\s*(%[\w$.-]+)\s*\[\s*(%[\w$.-]+)\s*\].*:\s*(\S.*?),\s*([^,]+)$")
_LOAD = re.compile(r"(%[\w$.-]+)\s*=")
_COMPUTE = re.compile(r"=\s*[\w.]+\s+(%[\w$.-]+),\s*(%[\w$.-]+)")


class Update(NamedTuple):
    """The three operations that update a place one after the other."""

    load: ElementLoad
    compute: Operation
    store: ElementStore


def atomics(program: WrittenProgram, found: Diagnostic) -> Iterator[Proposal]:
    """For a race between workitems of one launch."""
    places = (found.location, *(each.location for each in found.related))
    operations = [op for place in places if (op := program.operation(place)) is not None]
    for update in dict.fromkeys(update for op in operations if (update := _update(op)) is not None):
        proposal = _atomic(program, update)
        if proposal is not None:
            yield proposal


def _update(op: Operation) -> Update | None:
    """The update that a load or a store belongs to, where nothing else uses the values between."""
    store: Operation | None = op
    if isinstance(op, ElementLoad):
        following = _only_use(op.result)
        store = _only_use(following.results[0]) if following is not None and following.name in UPDATES else None
    if not isinstance(store, ElementStore):
        return None
    compute = store.value.owner
    if not isinstance(compute, Operation) or compute.name not in UPDATES or _only_use(store.value) is not store:
        return None
    for position, operand in enumerate(compute.operands):
        load = operand.owner
        if not isinstance(load, ElementLoad) or (load.pointer, load.offset) != (store.pointer, store.offset):
            continue
        if _only_use(operand) is compute and (position == 0 or "sub" not in compute.name):
            return Update(load, compute, store)
    return None


def _only_use(value: SSAValue) -> Operation | None:
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _atomic(program: WrittenProgram, update: Update) -> Proposal | None:
    load, compute, store = (program.place(op).words for op in update)
    target, result, operands = _STORE.match(store), _LOAD.match(load), _COMPUTE.search(compute)
    if target is None or result is None or operands is None or target[4] not in TYPES:
        return None
    pointer, offset, pointer_type, type_ = target.groups()
    value = operands[2] if operands[1] == result[1] else operands[1]
    word, _, sign = UPDATES[update.compute.name].partition(" ")
    edits = [program.instead(update.load, ""), program.instead(update.compute, "")]
    if constant_of(update.store.offset) != 0:
        place = f"{result[1]}_place"
        text = f"{place} = pto.addptr {pointer}, {offset} : {pointer_type} -> {pointer_type}"
        edits.append(program.before(update.store, text))
        pointer = place
    atomic = f"{result[1]} = pto.atomic_{word} {pointer}, {value}{' ' * bool(sign)}{sign} : {pointer_type}, {type_}"
    return Proposal((*edits, program.instead(update.store, f"{atomic} -> {type_}")))
