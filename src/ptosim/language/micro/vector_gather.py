"""Gathers and scatters: vector loads and stores at one address per lane or block."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute

from ptosim.effects.element import Element
from ptosim.language.micro.vector import element_among, integers, listing, mask_matches
from ptosim.language.operation import OptionalProperty, Problem, PTOOperation, Result
from ptosim.language.text.overload import Overloaded
from ptosim.language.types import MaskType, PtrType, VregType, element_of, mask_for


def _element(op: PTOOperation, role: str) -> Element | None:
    """The element type of a register or pointer, or None where it is something else or not known yet."""
    type_ = getattr(op, role).type
    closed = isinstance(type_, VregType) or (isinstance(type_, PtrType) and not type_.is_open)
    return element_of(type_) if closed else None


class _Indexed(Overloaded):
    """Activity is a mask, or in the older form the number of active lanes."""

    @classmethod
    def assign(cls, types: list[Attribute]) -> tuple[str, ...]:
        *roles, last = (role for role in cls.operand_roles if role != "active_lanes")
        counted = len(types) > len(roles) and isinstance(types[len(roles)], IndexType)
        return (*roles, "active_lanes" if counted else last)

    def mask_type(self) -> MaskType | None:
        """Each offset has its lane of the mask."""
        type_ = self.segment("offsets")[0].type
        return mask_for(type_) if isinstance(type_, VregType) else None

    def activity(self) -> Iterator[Problem]:
        """The mask, if there is one, has the granularity that the instruction asks for."""
        if self.segment("mask") and (expected := self.mask_type()) is not None:
            yield from mask_matches(self, "mask", self.segment("offsets")[0].type, expected)


class _Gather(_Indexed):
    """A load of one register by a register of offsets."""

    form = "$source:ub, $offsets:vreg{, $mask:mask}{, $active_lanes} -> $result:vreg"

    def rules(self, target: str) -> Iterator[Problem]:
        yield from self.activity()


class VGather2(_Gather, name="pto.vgather2"):
    """Load each lane from its own address in UB.

    Lane i comes from the pointer plus offsets[i] elements, unsigned; inactive lanes are not read and become zero.
    16-bit elements take 16-bit offsets, 32-bit elements 32-bit ones; 8-bit elements take 16-bit offsets and are
    zero-extended into 16-bit lanes. The mask has the granularity of the offsets. In the older form an index in its
    place says how many lanes are active, from lane 0 on. With {within = N} a check reports offsets of N and above:
    lowerings say how many elements a tile has.

        %v = pto.vgather2 %ub, %offsets, %mask
            : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
        %w = pto.vgather2 %ub, %offsets, %active_lanes
            : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, index -> !pto.vreg<64xf32>
    """

    within = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        source, result = _element(self, "source"), _element(self, "result")
        if source is not None and source.name not in _GATHERED:
            message = f"pto.vgather2 does not gather elements of type {source.name}; it gathers {listing(_GATHERED)}"
            yield Problem(message, at="source")
        elif source is not None:
            yield from _offset_elements(self, source, _unsigned(_lane_bits(source)))
            if result is not None and not _holds(result, source):
                expected = f"lanes of {_lane_type(source)}"
                message = f"result must have {expected} for elements of type {source.name}, not {result.name}"
                yield Problem(message)


_GATHERED = integers(8, 16, 32) | {"f16", "bf16", "f32"}


def _lane_bits(source: Element) -> int:
    return max(16, source.bits)


def _unsigned(bits: int) -> frozenset[str]:
    return frozenset({f"i{bits}", f"ui{bits}"})


def _lane_type(source: Element) -> str:
    if source.is_float:
        return source.name
    return (
        f"ui{_lane_bits(source)}" if source.kind == "unsigned" else f"i{_lane_bits(source)} or si{_lane_bits(source)}"
    )


def _holds(result: Element, source: Element) -> bool:
    """Floats are gathered as they are, integers into lanes of their signedness."""
    if source.is_float:
        return result == source
    return result.kind == source.kind and result.bits == _lane_bits(source)


def _offset_elements(op: PTOOperation, element: Element, allowed: frozenset[str]) -> Iterator[Problem]:
    offsets = _element(op, "offsets")
    if offsets is not None and offsets.name not in allowed:
        message = f"offsets for elements of type {element.name} must be {listing(allowed)}, not {offsets.name}"
        yield Problem(message, at="offsets")


class VGather2Bc(PTOOperation, name="pto.vgather2_bc"):
    """Load each 32-bit lane from its own address in UB (kept for older code; vgather2 takes more types).

    Lane i comes from the pointer plus offsets[i] elements; the offsets are 32-bit and read without sign. Inactive lanes
    are not read and become zero.

        %v = pto.vgather2_bc %ub, %offsets, %mask
            : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$source:ub, $offsets:vreg, $mask:mask -> $result:vreg"
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from element_among(self, "offsets", integers(32))
        source, offsets, result = _element(self, "source"), _element(self, "offsets"), _element(self, "result")
        if offsets is not None and result is not None and offsets.lanes != result.lanes:
            yield Problem(f"offsets has {offsets.lanes} lanes, but result has {result.lanes}", at="offsets")
        if source is not None and result is not None and source != result:
            yield Problem(f"result has elements of type {result.name}, but source has {source.name}", at="result")
        yield from mask_matches(self, "mask", self.result.type)


class VGatherB(_Gather, name="pto.vgatherb"):
    """Load 8 blocks of 32 bytes from UB into one register, each from its own address.

    Block b comes from the pointer plus offsets[b] bytes; of the offsets only lanes 0 to 7 count. The pointer and every
    offset used are multiples of 32. Lane b of the b32 mask gates block b; an inactive block is not read and becomes
    zero. In the older form an index in place of the mask says how many blocks are active.

        %v = pto.vgatherb %ub, %offsets, %mask
            : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32> -> !pto.vreg<64xf32>
        %w = pto.vgatherb %ub, %offsets, %active_lanes
            : !pto.ptr<f32, ub>, !pto.vreg<64xi32>, index -> !pto.vreg<64xf32>
    """

    def mask_type(self) -> MaskType:
        return MaskType(StringAttr("b32"))

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        yield from element_among(self, "offsets", integers(32))


class VScatter(_Indexed, name="pto.vscatter"):
    """Store each lane to its own address in UB.

    Lane i goes to the pointer plus offsets[i] elements, unsigned; inactive lanes are not written. Elements of 8 and 16
    bits take 16-bit offsets, 32-bit elements 32-bit ones; of 8-bit registers only every second byte (2i) is stored. The
    mask has the granularity of the offsets. Where two lanes meet, the lower lane wins on a5; on a2a3 that is an error.
    In the older form an index in place of the mask says how many lanes are active, from lane 0 on. With {within = N} a
    check reports offsets of N and above: lowerings say how many elements a tile has.

        pto.vscatter %v, %ub, %offsets, %mask
            : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vreg<64xi32>, !pto.mask<b32>
        pto.vscatter %v, %ub, %offsets, %active_lanes
            : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.vreg<64xi32>, index
    """

    form = "$value:vreg, $dest:ub, $offsets:vreg{, $mask:mask}{, $active_lanes}"
    within = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        value, dest = _element(self, "value"), _element(self, "dest")
        if value is not None and dest is not None and value != dest:
            yield Problem(f"dest has elements of type {dest.name}, but value has {value.name}", at="dest")
        if value is not None and value.bytes > 4:
            yield Problem(f"pto.vscatter stores elements of 8, 16 or 32 bits, not {value.name}", at="value")
        elif value is not None:
            yield from _offset_elements(self, value, integers(_lane_bits(value)))
        yield from self.activity()
