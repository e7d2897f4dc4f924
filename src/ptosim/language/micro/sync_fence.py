"""Fences: between the accesses of one vector scope, of the scalar unit, and of the caches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from xdsl.dialects.builtin import StringAttr
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import Space
from ptosim.effects.sync import REACHES, FenceReach
from ptosim.language.operation import OptionalOperand, OptionalProperty, Problem, PTOOperation
from ptosim.language.rules.tile_place_rules import in_gm
from ptosim.language.text.assembly_format import Vocabulary, parse_word, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import SPACE_SPELLINGS

MEMORY_BARRIERS = Vocabulary(
    (
        *("VV_ALL", "VST_VLD", "VLD_VST", "VST_VST"),
        *("VS_ALL", "VST_LD", "VLD_ST", "VST_ST"),
        *("SV_ALL", "ST_VLD", "LD_VST", "ST_VST"),
        *("SS_ALL", "ST_LD", "LD_ST", "ST_ST"),
    )
)


class MemBar(PTOOperation, name="pto.mem_bar"):
    """Order UB accesses of one vector scope that may alias: one class before completes before another after.

    The hardware does not compare the addresses of accesses in flight. VST_VLD orders vector stores before vector
    loads, VLD_VST loads before stores, VST_VST stores before stores, VV_ALL everything; with S or without V a side is
    scalar (VST_LD, ST_VLD, ST_LD). Without a word it orders every access before it with every one after it. It has no
    effect on copies and never replaces a flag.

        pto.mem_bar "VST_VLD"
    """

    form = "{@order}"
    words = {"order": MEMORY_BARRIERS}
    order = OptionalProperty()


class Dsb(PTOOperation, name="pto.dsb"):
    """The scalar unit waits until its own memory effects are done.

    The word names the effects. Scalar stores to UB are visible to other pipes after ALL, UB or SEQ, those to GM after
    ALL, DDR or SEQ. ALL and DDR also say that GM has what drained pipes have stored, as a pto.comm.tnotify wants it.

        pto.dsb "ALL"
    """

    form = "@memory"
    words = {"memory": Vocabulary(("ALL", "DDR", "UB", "SEQ"))}
    placement = "outside"


class FenceBarrierAll(PTOOperation, name="pto.fence.barrier_all"):
    """Wait for the memory effects of this core.

    The scalar unit waits until every pipe is empty and its own stores to the memory that the word names have ended:
    local_memory (UB), gm or all. Behind gm or all, what a pto.comm.tnotify announces is there; a fence of local_memory
    drains the pipes but says nothing of GM, and scalar stores to it may still be under way.

        pto.fence.barrier_all #pto.fence_scope<all>
    """

    form = "@scope"
    words = {"scope": Vocabulary(("local_memory", "gm", "all"), printed="#pto.fence_scope<{}>")}
    placement = "outside"


def reach_of(op: Dsb | FenceBarrierAll) -> FenceReach:
    """The writes that a fence waits for."""
    return REACHES[op.name][op.word("memory" if isinstance(op, Dsb) else "scope") or ""]


CACHE_LINES = Vocabulary(("SINGLE_CACHE_LINE", "ENTIRE_DATA_CACHE"))
CACHE_SIDES = Vocabulary(("CACHELINE_ALL", "CACHELINE_UB", "CACHELINE_OUT", "CACHELINE_ATOMIC"))


class Dcci(PTOOperation, name="pto.dcci"):
    """Clean and invalidate the scalar data cache: the line of an address, or all of it.

    Scalar stores to GM stay in the cache until then.

        pto.dcci %p, "SINGLE_CACHE_LINE", "CACHELINE_OUT" : !pto.ptr<i32, gm>
    """

    words = {"lines": CACHE_LINES, "side": CACHE_SIDES}
    placement = "outside"
    form = "$address:gm|ub, @lines{, @side}"

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        address = parser.parse_value("address")
        parser.parse_optional_punctuation(",")
        properties = {"lines": StringAttr(parse_word(parser, "lines", CACHE_LINES))}
        if parser.parse_optional_punctuation(",") is not None:
            properties["side"] = StringAttr(parse_word(parser, "side", CACHE_SIDES))
        return cls.parse_rest(parser, {"address": address}, properties)


_MEMORIES = Vocabulary(tuple(SPACE_SPELLINGS))


class CmoCacheInvalid(PTOOperation, name="pto.cmo.cacheinvalid"):
    """Invalidate cached GM data: the line of an address, or everything.

    Later scalar loads read GM itself. In place of a pointer a view names its first element.

        pto.cmo.cacheinvalid all #pto.address_space<gm>
        pto.cmo.cacheinvalid %p single_cache_line : !pto.ptr<i32, gm>
    """

    placement = "outside"
    address = OptionalOperand()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        if not parser.at(MLIRTokenKind.PERCENT_IDENT):
            parser.parse_keyword("all")
            if (memory := parse_word(parser, "memory", _MEMORIES)) != Space.GM.value:
                parser.report(f"memory must be gm, not {memory}", parser.place_of("memory"))
            return cls.parse_rest(parser, {}, {})
        address = parser.parse_value("address")
        parser.parse_optional_punctuation(",")
        parser.parse_keyword("single_cache_line")
        return cls.parse_rest(parser, {"address": address}, {})

    def print(self, printer: Printer) -> None:
        if self.address is None:
            printer.print_string(" all #pto.address_space<gm>")
            printer.print_op_attributes(self.attributes)
            return
        write(printer, " ", self.address, " single_cache_line")
        printer.print_op_attributes(self.attributes)
        write(printer, " : ", self.address.type)

    def rules(self, target: str) -> Iterator[Problem]:
        return in_gm(self, "address")
