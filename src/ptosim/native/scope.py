"""Sections: code of one kind of core, which the other kind passes over. A scope is an entry (build/program.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ptosim.language.micro.scope import Section, SectionCube, SectionVector

if TYPE_CHECKING:
    from ptosim.native.build.program import FunctionBody


def _section(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, Section)
    if op.core is body.kind:
        body.block(op.body.block)


STRUCTURED: dict[str, Callable[[FunctionBody, Operation], None]] = {
    SectionCube.name: _section,
    SectionVector.name: _section,
}
