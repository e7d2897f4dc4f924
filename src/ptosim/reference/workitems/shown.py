"""Chosen lines of the code of workitems as they execute: operands and results of the active lanes of a warp."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from ptosim.language.operation import PTOOperation
from ptosim.language.text.parser import ParsedModule
from ptosim.machine.entry import Site
from ptosim.reference.observed.watch import Execution, Watch, WatchedValue
from ptosim.reference.workitems.lifting import Step, element_of_value
from ptosim.reference.workitems.values import Active, bits_of, part_of
from ptosim.reference.workitems.warp import Warp


def shown(watch: Watch, parsed: ParsedModule, op: Operation, site: Site, places: tuple[int, ...], step: Step) -> Step:
    """A step that also tells what it has done."""
    roles = [role for role, _ in op.roles()] if isinstance(op, PTOOperation) else ["" for _ in op.operands]
    values = [*zip(roles, op.operands, strict=True), *(("->", result) for result in op.results)]

    def told(warp: Warp, active: Active) -> None:
        step(warp, active)
        lanes = active
        if (wanted := watch.workitems.get(site.line or 0)) is not None:
            lanes = active & (warp.workitems == wanted)
        if not lanes.any():
            return
        mask = sum(1 << int(lane) for lane in np.flatnonzero(active))
        who = f"{warp.core.machine.name} warp {warp.number} (mask 0x{mask:08x})"
        if wanted is not None:
            who = f"{who} {warp.launch.workitem(wanted)}"
        found = [
            _value(parsed, role, value, warp, place, lanes) for (role, value), place in zip(values, places, strict=True)
        ]
        count = len(op.operands)
        names = {number: region.name for number, region in warp.core.memories.global_memory.regions.all.items()}
        watch.executed(Execution(site, who, (), tuple(found[:count]), tuple(found[count:]), (), names))

    return told


def _value(parsed: ParsedModule, role: str, value: SSAValue, warp: Warp, place: int, lanes: Active) -> WatchedValue:
    """The values of these lanes, one where all are alike."""
    element = element_of_value(value)
    part = None if element is None else part_of(element)
    numbers = warp.values[place][lanes]
    if part is not None and part.is_float:
        numbers = bits_of(numbers, part)
    if len(numbers) and (numbers == numbers[0]).all():
        numbers = numbers[:1]
    name = parsed.named(value) or ""
    return WatchedValue(role, name, str(value.type), part, [int(number) for number in numbers.reshape(-1)])
