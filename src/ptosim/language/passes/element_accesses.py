"""Loads and stores of elements by the scalar unit, `pto.load` and `pto.store`, get its own names for them."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from ptosim.language.analysis.fast_walk import around
from ptosim.language.micro.pointer import LoadScalar, StoreScalar
from ptosim.language.simt.simt import SectionSimt
from ptosim.language.simt.simt_memory import Load, Store
from ptosim.language.structure.function import Function
from ptosim.language.text.parser import ParsedModule
from ptosim.language.types import PtrType, is_packed


def name_element_accesses(parsed: ParsedModule) -> None:
    """Give each its name on the unit that runs it."""
    for op in list(parsed.module.walk()):
        if not isinstance(op, Load | Store) or _is_of_workitems(op):
            continue
        type_ = op.pointer.type
        if not isinstance(type_, PtrType) or is_packed(type_.element):
            continue
        if isinstance(op, Load):
            new = LoadScalar.make({role: op.segment(role) for role in ("pointer", "offset")}, [type_.element])
        else:
            new = StoreScalar.make({role: op.segment(role) for role in ("value", "pointer", "offset")})
        Rewriter.replace_op(op, new)
        parsed.replaced(op, new)
        parsed.spellings[new] = op.name


def _is_of_workitems(op: Operation) -> bool:
    return any(
        isinstance(each, SectionSimt) or (isinstance(each, Function) and each.is_simt_entry) for each in around(op)
    )
