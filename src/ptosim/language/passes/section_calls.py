"""Calls of functions for one kind of core, in code that both kinds run, get the section that says so.

A kernel may consist of a function that calls a cube function and a vector function. On the copy that runs, each core
then passes over the calls of the other, as over any section.
"""

from __future__ import annotations

from xdsl.ir import Block, Region

from ptosim.effects.names import CoreKind
from ptosim.language.micro.scope import SectionCube, SectionVector
from ptosim.language.operation import core_of
from ptosim.language.rules.core_kind_rules import calls_of_one_kind
from ptosim.language.text.parser import ParsedModule

_SECTIONS = {CoreKind.AIC: SectionCube, CoreKind.AIV: SectionVector}


def section_calls(parsed: ParsedModule) -> None:
    """Put every such call into a section of its kind. A rule of core_kind_rules.py forbids to use its results."""
    for call in list(calls_of_one_kind(parsed.module)):
        callee, block = call.function, call.parent_block()
        core = core_of(callee) if callee is not None else None
        assert core is not None and block is not None
        section = _SECTIONS[core].make(regions=[Region(Block())])
        parsed.serve(section, call)
        block.insert_op_before(section, call)
        call.detach()
        section.body.block.add_op(call)
