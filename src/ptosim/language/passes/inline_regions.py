"""Takes regions apart that nothing else has to know of: `scf.execute_region` runs where it stands, `scf.index_switch`
becomes branches."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntAttr, StringAttr, i1
from xdsl.ir import Block, Region, SSAValue

from ptosim.language.structure.control import If, Yield
from ptosim.language.structure.execute_region import ExecuteRegion
from ptosim.language.structure.index_switch import IndexSwitch
from ptosim.language.structure.scalar import Constant
from ptosim.language.structure.scalar_cast import CmpI
from ptosim.language.text.parser import ParsedModule


def inline_regions(parsed: ParsedModule) -> None:
    """Put the operations of every such region in its place, inner ones first."""
    for switch in [op for op in parsed.module.walk() if isinstance(op, IndexSwitch)]:
        _branch(parsed, switch)
    for region in reversed([op for op in parsed.module.walk() if isinstance(op, ExecuteRegion)]):
        block, inner = region.parent_block(), region.region.block
        end = inner.last_op
        assert block is not None and isinstance(end, Yield)
        for result, value in zip(region.results, end.arguments, strict=True):
            result.replace_all_uses_with(value)
        end.detach()
        end.erase()
        for op in list(inner.ops):
            op.detach()
            block.insert_op_before(op, region)
        region.detach()
        region.erase()


def _branch(parsed: ParsedModule, switch: IndexSwitch) -> None:
    """A branch for each case, with the next one behind its else."""
    block = switch.parent_block()
    assert block is not None
    bodies = [region.detach_block(region.block) for region in list(switch.regions)]
    types = [result.type for result in switch.results]
    place, before = block, switch
    results: list[SSAValue] = []
    for number, body in zip(switch.numbers, bodies, strict=False):
        literal = Constant.make({}, [IndexType()], {"bits": IntAttr(number)})
        index = switch.operands[0]
        made = CmpI.make({"lhs": index, "rhs": literal.result}, [i1], {"predicate": StringAttr("eq")})
        last = number == switch.numbers[-1]
        otherwise = bodies[-1] if last else Block()
        branch = If.make({"cond": made.results[0]}, types, regions=[Region(body), Region(otherwise)])
        for op in (literal, made, branch):
            parsed.positions.setdefault(op, parsed.positions[switch])
            parsed.origins[op] = parsed.origin(switch)
            if place is block:
                block.insert_op_before(op, before)
            else:
                place.add_op(op)
        if place is block:
            results = list(branch.results)
        else:
            end = Yield.make({"arguments": branch.results})
            parsed.positions.setdefault(end, parsed.positions[switch])
            parsed.origins[end] = parsed.origin(switch)
            place.add_op(end)
        place = otherwise
    if not bodies[:-1]:
        end = bodies[0].last_op
        assert end is not None
        results = list(end.operands)
        for op in list(bodies[0].ops)[:-1]:
            op.detach()
            block.insert_op_before(op, switch)
    for result, value in zip(switch.results, results, strict=True):
        result.replace_all_uses_with(value)
    switch.detach()
    switch.erase()
