"""Loads and stores of logical vectors: continuous, interleaved, by groups, by blocks, gathered and scattered.

Operands of one spelling play roles by their types: a stride of groups is an index, strides of blocks are two i16.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.utils.lexer import Span

from ptosim.language.logical_types import LogicalMaskType
from ptosim.language.micro.vector import integers
from ptosim.language.operation import OptionalProperty, Problem, lint
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.text.generic_form import SEGMENTS, Segments
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import PtrType, element_name, element_of
from ptosim.language.vmi.vmi_mask import is_all_true
from ptosim.language.vmi.vmi_operation import (
    PMODES,
    VmiOperation,
    alike,
    divides,
    elements_among,
    governed,
    idle_pmode,
    points_to,
    same_lanes,
)

LOADS = Vocabulary(("continuous", "brc", "dintlv", "unpack"))
STORES = Vocabulary(("continuous", "dintlv"))
_BYTES = frozenset({"i8", "si8", "ui8"})
_WORDS = integers(32)


class VmiAccess(VmiOperation):
    """A load or store, whose operands behind the address say of which form it is."""

    vectors = 0
    """The least number of vectors before the pointer."""
    group = OptionalProperty()
    dist_mode = OptionalProperty()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        found: list[tuple[SSAValue, Span]] = []
        cls.read_values(parser, found)
        parser.parse_punctuation("[", f" and the offset of the pointer of {cls.name}")
        span = parser.span_here()
        found.append((parser.parse_value("offset", "index"), span))
        parser.parse_punctuation("]")
        if parser.parse_optional_punctuation(",") is not None:
            cls.read_values(parser, found)
        roles = cls.roles_of([value for value, _ in found])
        if roles is None:
            parser.raise_error(f"the operands of {cls.name} do not make one of its forms", parser.place_of(""))
        for role, (_, span) in zip(roles, found, strict=True):
            parser.place(role, span)
        values = dict(zip(roles, (value for value, _ in found), strict=True))
        operands = {role: values[role] for role in cls.operand_roles if role in values}
        return cls.parse_rest(parser, operands, {})

    @classmethod
    def read_values(cls, parser: LocatedParser, found: list[tuple[SSAValue, Span]]) -> None:
        while True:
            span = parser.span_here()
            found.append((parser.parse_value(), span))
            if parser.parse_optional_punctuation(",") is None:
                return

    @classmethod
    def roles_of(cls, values: Sequence[SSAValue]) -> list[str] | None:
        """The roles of operands in the order of the text; None where they make no form."""
        types = [value.type for value in values]
        at = next((index for index, type_ in enumerate(types) if isinstance(type_, PtrType)), None)
        if at is None or not cls.vectors <= at <= 2 * cls.vectors or len(types) < at + 2:
            return None
        roles = [*("value", "high")[:at], "pointer", "offset"]
        rest = types[at + 2 :]
        masks = [isinstance(type_, LogicalMaskType) for type_ in rest]
        scalars = masks.count(False)
        if scalars > 2 or masks.count(True) > 1 or any(masks[:scalars]):
            return None
        roles += ["stride"] if scalars == 1 else ["block_stride", "repeat_stride"][:scalars]
        return [*roles, *(["mask"] if any(masks) else [])]

    def settle_operands(self, parser: LocatedParser) -> None:
        """The generic form has the operands in the order of the text."""
        values = list(self.operands)
        roles = self.roles_of(values)
        if roles is None or any(role not in self.operand_roles for role in roles):
            parser.raise_error(f"the operands of {self.name} do not make one of its forms", parser.place_of(""))
        found = dict(zip(roles, values, strict=True))
        self.operands = [found[role] for role in self.operand_roles if role in found]
        self.properties[SEGMENTS] = Segments(tuple(int(role in found) for role in self.operand_roles))

    def form_rules(self, mode: str | None) -> Iterator[Problem]:
        """Checks that the operands and attributes go together."""
        name, group = self.name, self.attribute("group")
        if group is not None and not self.segment("stride"):
            yield Problem(f"{name} by groups has a stride behind the address", at="group")
        elif self.segment("stride") and group is None:
            yield Problem(f"{name} with a stride says how many groups there are: {{group = C}}", at="stride")
        elif self.segment("stride") and not isinstance(self.type_of("stride"), IndexType):
            yield Problem(f"stride of {name} must be index, not {self.type_of('stride')}", at="stride")
        if self.segment("block_stride"):
            for role in ("block_stride", "repeat_stride"):
                if element_name(type_ := self.segment(role)[0].type) != "i16":
                    yield Problem(f"{role} of {name} must be i16, not {type_}", at=role)
            if group is not None or mode is not None:
                yield Problem(f"{name} by blocks has no group and no dist_mode", at="block_stride")


class VmiLoad(VmiAccess, name="pto.vmi.vload"):
    """Load a logical vector from UB.

    Lane i is element i behind the address. dist_mode brc gives all lanes the first element; dintlv takes elements
    alternately into two vectors; unpack zero-extends the bits of elements of half the width. With a stride and
    {group = C} the lanes lie in C groups, the first of each a stride behind that of the one before; with brc each group
    has one element. With two i16 strides block b of 32 bytes lies b block strides behind.

        %v = pto.vmi.vload %ub[%o] : !pto.ptr<f32, ub> -> !pto.vmi.vreg<100xf32>
        %lo, %hi = pto.vmi.vload %ub[%o] {dist_mode = "dintlv"}
            : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32>, !pto.vmi.vreg<64xf32>
        %g = pto.vmi.vload %ub[%o], %stride {group = 8} : !pto.ptr<f32, ub> -> !pto.vmi.vreg<64xf32>
    """

    form = (
        "$pointer:ub[$offset:index]{, $stride}{, $block_stride}{, $repeat_stride} -> $result:logical{, $high:logical}"
    )
    listed = ("pointer",)
    words = {"dist_mode": LOADS, "pmode": PMODES}
    merges = True

    def shapes(self) -> Iterator[Problem]:
        mode = self.word("dist_mode")
        yield from self.form_rules(mode)
        yield from divides(self, "result")
        yield from idle_pmode(self)
        if self.attribute("group") is not None and mode not in (None, "brc"):
            yield Problem(f"{self.name} by groups takes no dist_mode but brc", at="dist_mode")
        if (mode == "dintlv") != (len(self.results) == 2):
            yield Problem(f'{self.name} gives two vectors with dist_mode = "dintlv", and only then', at="dist_mode")
        yield from alike(self, "result", "high")
        if mode == "unpack":
            yield from self._twice_as_wide()
        else:
            yield from points_to(self, "pointer", "result")

    def _twice_as_wide(self) -> Iterator[Problem]:
        source, result = self.type_of("pointer"), self.vector("result")
        if not isinstance(source, PtrType) or result is None:
            return
        if element_of(result.element).bits != 2 * element_of(source.element).bits:
            message = f"{self.name} unpacks into lanes twice as wide, not {source.element} into {result.element}"
            yield Problem(message, at="result")

    def limits(self) -> Iterator[Problem]:
        if self.segment("block_stride") and self.registers("result") > 1:
            yield Problem(f"{self.name} by blocks loads one register of 256 bytes", "result", "unsupported")


class VmiStore(VmiAccess, name="pto.vmi.vstore"):
    """Store a logical vector to UB; inactive lanes are not written.

    Lane i goes to element i behind the address. dist_mode dintlv stores two vectors alternately. With a stride and
    {group = C} the lanes are stored in C groups, the first of each a stride behind that of the one before; 32-bit
    integers may then go to bytes. With two i16 strides block b of 32 bytes goes b block strides further on.

        pto.vmi.vstore %v, %ub[%o], %mask : !pto.vmi.vreg<100xf32>, !pto.ptr<f32, ub>, !pto.vmi.mask<100xpred>
        pto.vmi.vstore %v, %ub[%o], %stride {group = 8} : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>
    """

    form = (
        "$value:logical{, $high:logical}, $pointer:ub[$offset:index]{, $stride}{, $block_stride}{, $repeat_stride}"
        "{, $mask:truths}"
    )
    listed = ("value", "high", "pointer", "mask")
    words = {"dist_mode": STORES, "pmode": PMODES}
    vectors = 1

    def shapes(self) -> Iterator[Problem]:
        mode, high = self.word("dist_mode"), bool(self.segment("high"))
        yield from self.form_rules(mode)
        yield from divides(self, "value")
        yield from governed(self, "mask", "value")
        if self.attribute("group") is not None and mode is not None:
            yield Problem(f"{self.name} by groups takes no dist_mode", at="dist_mode")
        if self.attribute("group") is not None and self.segment("mask"):
            yield Problem(f"{self.name} by groups has no mask", at="mask")
        if (mode == "dintlv") != high:
            yield Problem(f'{self.name} takes two vectors with dist_mode = "dintlv", and only then', at="dist_mode")
        yield from alike(self, "value", "high")
        if not self._stores_bytes():
            yield from points_to(self, "pointer", "value")
        if mode == "dintlv" and (mask := self.segment("mask")) and not is_all_true(mask[0]):
            yield lint(f'{self.name} with dist_mode = "dintlv" stores every lane, whatever its mask says', at="mask")

    def _stores_bytes(self) -> bool:
        """Whether the low bytes of 32-bit integers are stored."""
        pointer = self.type_of("pointer")
        to_bytes = isinstance(pointer, PtrType) and element_name(pointer.element) in _BYTES
        return to_bytes and self.attribute("group") is not None and self.element("value") in _WORDS

    def limits(self) -> Iterator[Problem]:
        if self.segment("block_stride") and self.registers("value") > 1:
            yield Problem(f"{self.name} by blocks stores one register of 256 bytes", "value", "unsupported")


class VmiBlockStore(VmiOperation, name="pto.vmi.vsstb"):
    """Store a logical vector to blocks of 32 bytes in UB, block b to b block strides further on.

    Inactive lanes are not written. The lanes fill at most one register.

        pto.vmi.vsstb %v, %ub[%o], %bs, %mask : !pto.vmi.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vmi.mask<64xpred>
    """

    form = "$value:logical, $pointer:ub[$offset:index], $block_stride:i16, $mask:truths"
    listed = ("value", "pointer", "mask")

    def shapes(self) -> Iterator[Problem]:
        yield from points_to(self, "pointer", "value")
        yield from governed(self, "mask", "value")

    def limits(self) -> Iterator[Problem]:
        if self.registers("value") > 1:
            yield Problem(f"{self.name} stores one register of 256 bytes", "value", "unsupported")


# --- by offsets -------------------------------------------------------------------------------------------------------


def _offsets(op: VmiOperation, data: str, widths: dict[int, frozenset[str]], verb: str) -> Iterator[Problem]:
    vector, found = op.vector(data), op.element("offsets")
    if vector is None or found is None:
        return
    element = element_of(vector.element)
    if element.kind == "lowprecision":
        yield Problem(f"{op.name} does not {verb} elements of type {element.name}", at=data)
    elif found not in widths[element.bits]:
        known = ", ".join(sorted(widths[element.bits])) or "nothing"
        message = f"{op.name} of {element.name} takes offsets of {known}, not {found}"
        yield Problem(message, at="offsets", kind="unsupported")


_HALVES, _WHOLE = frozenset({"i16", "ui16"}), frozenset({"i32", "ui32"})
_UNSIGNED = _HALVES | _WHOLE


class VmiGather(VmiOperation, name="pto.vmi.vgather"):
    """Load each lane of a logical vector from its own address in UB.

    Lane i is the element offsets[i] behind the pointer; inactive lanes are not read and become zero. 32-bit elements
    take 32-bit offsets, 16-bit unsigned integers 16-bit ones in one register.

        %v = pto.vmi.vgather %ub, %offsets, %mask
            : !pto.ptr<f32, ub>, !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred> -> !pto.vmi.vreg<100xf32>
    """

    form = "$pointer:ub, $offsets:logical, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from points_to(self, "pointer", "result")
        yield from elements_among(self, "offsets", _UNSIGNED)
        yield from same_lanes(self, "result", "offsets")
        yield from governed(self, "mask", "result")

    def limits(self) -> Iterator[Problem]:
        halves = _HALVES if self.element("result") in _HALVES else frozenset[str]()
        yield from _offsets(self, "result", {8: frozenset(), 16: halves, 32: _WHOLE}, "gather")
        if self.element("result") in _HALVES and self.registers("result") > 1:
            yield Problem(f"{self.name} of 16-bit elements gives one register", at="result", kind="unsupported")


class VmiGatherBlocks(VmiOperation, name="pto.vmi.vgatherb"):
    """Load blocks of 32 bytes from UB into a logical vector, each from its own address.

    Block b comes from the pointer plus offsets[b] bytes; inactive lanes become zero. The lanes fill at most one
    register.

        %v = pto.vmi.vgatherb %ub, %offsets, %mask
            : !pto.ptr<f32, ub>, !pto.vmi.vreg<8xi32>, !pto.vmi.mask<64xpred> -> !pto.vmi.vreg<64xf32>
    """

    form = "$pointer:ub, $offsets:logical, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from points_to(self, "pointer", "result")
        yield from elements_among(self, "offsets", _WHOLE)
        yield from governed(self, "mask", "result")

    def limits(self) -> Iterator[Problem]:
        result = self.vector("result")
        if result is None:
            return
        blocks = -(-result.lanes * element_of(result.element).bytes // 32)
        if blocks > 8:
            yield Problem(f"{self.name} gives one register of 256 bytes", at="result", kind="unsupported")
        elif not blocks <= self.lanes("offsets") <= 64:
            message = f"{self.name} takes one offset for each of {blocks} blocks, in one register"
            yield Problem(message, at="offsets", kind="unsupported")


class VmiScatter(VmiOperation, name="pto.vmi.vscatter"):
    """Store each lane of a logical vector to its own address in UB.

    Lane i goes to the element offsets[i] behind the pointer; inactive lanes are not written. Where two lanes meet, the
    lowest wins. 32-bit elements take 32-bit offsets, others 16-bit ones.

        pto.vmi.vscatter %v, %ub, %offsets, %mask
            : !pto.vmi.vreg<100xf32>, !pto.ptr<f32, ub>, !pto.vmi.vreg<100xi32>, !pto.vmi.mask<100xpred>
    """

    form = "$value:logical, $pointer:ub, $offsets:logical, $mask:truths"

    def shapes(self) -> Iterator[Problem]:
        yield from points_to(self, "pointer", "value")
        yield from elements_among(self, "offsets", _UNSIGNED)
        yield from same_lanes(self, "value", "offsets")
        yield from governed(self, "mask", "value")

    def limits(self) -> Iterator[Problem]:
        yield from _offsets(self, "value", {8: _HALVES, 16: _HALVES, 32: _WHOLE}, "scatter")
