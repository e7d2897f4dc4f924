"""The older spellings of loads, stores, gathers and constants of logical vectors, and what squeezes and splits lanes.

What they are today stands in vmi/older_spellings.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, i1
from xdsl.ir import Attribute

from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.operation import OptionalProperty, Problem, Property, made
from ptosim.language.text.assembly_format import integers_in
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.types import element_of
from ptosim.language.vmi.vmi_operation import (
    PREFIX,
    VmiOperation,
    alike,
    divides,
    elements_among,
    governed,
    points_to,
    same_lanes,
)

_V = "!pto.vmi.vreg<64xf32>"
_I = "!pto.vmi.vreg<64xi32>"
_M = "!pto.vmi.mask<64xpred>"
_P = "!pto.ptr<f32, ub>"
_UNSIGNED = frozenset({"i16", "ui16", "i32", "ui32"})


class OlderAccess(VmiOperation):
    """A load or store whose name says its form."""

    data: ClassVar[str] = "result"
    one_lane_each: ClassVar[bool] = False
    """Whether each group has one lane."""
    num_groups = OptionalProperty()

    def shapes(self) -> Iterator[Problem]:
        yield from points_to(self, "pointer", self.data)
        for role in ("high", "passthru"):
            if role in (*self.operand_roles, *self.result_roles):
                yield from alike(self, self.data, role)
        if "mask" in self.operand_roles:
            yield from governed(self, "mask", self.data)
        if "offsets" in self.operand_roles:
            yield from elements_among(self, "offsets", _UNSIGNED)
            yield from same_lanes(self, self.data, "offsets")
        if "stride" in self.operand_roles and self.num_groups is None:
            yield Problem(f"{self.name} says how many groups there are: {{num_groups = C}}")
        elif "stride" in self.operand_roles:
            yield from divides(self, self.data, "num_groups")
            if self.one_lane_each and self.integer("num_groups") != self.lanes(self.data):
                yield Problem(f"{self.name} has one lane for each group", at="num_groups")

    def limits(self) -> Iterator[Problem]:
        if "block_stride" in self.operand_roles and self.registers(self.data) > 1:
            yield Problem(f"{self.name} moves one register of 256 bytes", at=self.data, kind="unsupported")
        if self.name in _PACKED and not _fills_a_register(self, self.data):
            yield Problem(f"{self.name} takes the lanes of one whole register", at=self.data, kind="unsupported")


_PACKED = ("pto.vmi.expand_load", "pto.vmi.compress_store")


def _fills_a_register(op: VmiOperation, role: str) -> bool:
    type_ = op.vector(role)
    return type_ is None or type_.lanes == element_of(type_.element).lanes


_LOADS = {
    "load": ("", ": {P} -> {V}", "vload"),
    "deinterleave_load": ("", ": {P} -> {V}, {V}", 'vload {dist_mode = "dintlv"}'),
    "group_load": (", $stride:index", "{num_groups = 8} : {P} -> {V}", "vload {group = C}"),
    "group_slot_load": (", $stride:index", "{num_groups = 64} : {P} -> {V}", "vload {group = C}, one lane each"),
    "group_broadcast_load": (
        ", $stride:index",
        "{num_groups = 8} : {P} -> {V}",
        'vload {group = C, dist_mode = "brc"}',
    ),
    "stride_load": (
        ", $block_stride:i16, $repeat_stride:i16, $mask:truths",
        ": {P}, i16, i16, {M} -> {V}",
        "vload with strides of blocks, and a mask of them",
    ),
    "masked_load": (
        ", $mask:truths, $passthru:logical",
        ": {P}, {M}, {V} -> {V}",
        "vload, inactive lanes from another vector",
    ),
    "expand_load": (
        ", $mask:truths, $passthru:logical",
        ": {P}, {M}, {V} -> {V}",
        "vload whose k-th active lane gets element k",
    ),
}
_STORES = {
    "store": ("", ": {V}, {P}", "vstore"),
    "interleave_store": ("", ": {V}, {V}, {P}", 'vstore {dist_mode = "dintlv"}'),
    "group_store": (", $stride:index", "{num_groups = 8} : {V}, {P}", "vstore {group = C}"),
    "masked_store": (", $mask:truths", ": {V}, {P}, {M}", "vstore with a mask"),
    "stride_store": (
        ", $block_stride:i16, $repeat_stride:i16, $mask:truths",
        ": {V}, {P}, i16, i16, {M}",
        "vstore with strides of blocks",
    ),
    "compress_store": (", $mask:truths", ": {V}, {P}, {M}", "vstore of the active lanes, side by side"),
}
_WRITTEN = {
    ", $stride:index": ", %stride",
    ", $mask:truths": ", %mask",
    ", $mask:truths, $passthru:logical": ", %mask, %passthru",
    ", $block_stride:i16, $repeat_stride:i16, $mask:truths": ", %bs, %rs, %mask",
}


def _access(name: str, form: str, text: str, now: str, data: str, **facts: object) -> type[VmiOperation]:
    types = text.replace("{P}", _P).replace("{V}", _V).replace("{M}", _M)
    page = f"Older spelling of pto.vmi.{now}.\n\nIts name says the form.\n\n    {types}\n"
    return made(__name__, OlderAccess, PREFIX + name, __doc__=page, form=form, data=data, **facts)


def _load(name: str) -> type[VmiOperation]:
    more, types, today = _LOADS[name]
    two = ", $high:logical" * (name == "deinterleave_load")
    form = f"$pointer:ub[$offset:index]{more} -> $result:logical{two}"
    listed = ("pointer", *(("block_stride", "repeat_stride") if "block" in more else ()), "mask", "passthru")
    text = f"{'%lo, %hi' if two else '%v'} = pto.vmi.{name} %ub[%o]{_WRITTEN.get(more, '')} {types}"
    return _access(name, form, text, today, "result", listed=listed, one_lane_each="slot" in name)


def _store(name: str) -> type[VmiOperation]:
    more, types, today = _STORES[name]
    two = ", $high:logical" * (name == "interleave_store")
    form = f"$value:logical{two}, $pointer:ub[$offset:index]{more}"
    listed = ("value", "high", "pointer", *(("block_stride", "repeat_stride") if "block" in more else ()), "mask")
    text = f"pto.vmi.{name} {'%lo, %hi' if two else '%v'}, %ub[%o]{_WRITTEN.get(more, '')} {types}"
    return _access(name, form, text, today, "value", listed=listed)


OPERATIONS = (
    *map(_load, _LOADS),
    *map(_store, _STORES),
    _access(
        "gather",
        "$pointer:ub[$offsets:logical], $mask:truths, $passthru:logical -> $result:logical",
        f"%v = pto.vmi.gather %ub[%offsets], %mask, %passthru : {_P}, {_I}, {_M}, {_V} -> {_V}",
        "vgather, inactive lanes from another vector",
        "result",
    ),
    _access(
        "scatter",
        "$value:logical, $pointer:ub[$offsets:logical], $mask:truths",
        f"pto.vmi.scatter %v, %ub[%offsets], %mask : {_V}, {_P}, {_I}, {_M}",
        "vscatter",
        "value",
    ),
)


# --- constants --------------------------------------------------------------------------------------------------------


class VmiConstant(VmiOperation, name="pto.vmi.constant"):
    """A logical vector of one literal.

    The value is dense: all lanes are equal.

        %v = "pto.vmi.constant"() {value = dense<1.0> : tensor<64xf32>} : () -> !pto.vmi.vreg<64xf32>
    """

    form = "-> $result:logical"
    value = Property()

    def shapes(self) -> Iterator[Problem]:
        type_ = self.vector("result")
        yield from literal_shape(self, self.value, type_, None if type_ is None else type_.element)

    def limits(self) -> Iterator[Problem]:
        literal = cast("Any", self.value)
        if isinstance(literal, DenseIntOrFPElementsAttr) and not literal.is_splat():
            yield Problem(f"{self.name} of lanes that differ has no recipe", at="value", kind="unsupported")


class VmiConstantMask(VmiOperation, name="pto.vmi.constant_mask"):
    """A logical mask that is written lane by lane.

    One truth value for each lane, or one for all.

        %m = "pto.vmi.constant_mask"() {value = dense<true> : tensor<64xi1>} : () -> !pto.vmi.mask<64xpred>
    """

    form = "-> $result:truths"
    value = Property()

    def shapes(self) -> Iterator[Problem]:
        type_ = self.type_of("result")
        yield from literal_shape(self, self.value, type_ if isinstance(type_, LogicalMaskType) else None, i1)


def literal_shape(
    op: VmiOperation, value: Attribute, type_: LogicalVectorType | LogicalMaskType | None, element: Attribute | None
) -> Iterator[Problem]:
    """A literal has the lanes and the elements of its result."""
    if type_ is None:
        return
    if not isinstance(value, DenseIntOrFPElementsAttr):
        yield Problem(f"value of {op.name} is dense<...> : tensor<{type_.lanes}x{element}>", at="value")
        return
    shape, found = value.get_shape(), cast("Any", value).get_element_type()
    if tuple(shape) != (type_.lanes,):
        yield Problem(f"value of {op.name} has shape {list(shape)}, not {type_.lanes} lanes", at="value")
    if found != element:
        yield Problem(f"value of {op.name} has elements of {found}, not {element}", at="value")


# --- squeezing, shuffling, channels -----------------------------------------------------------------------------------


class VmiCompress(VmiOperation, name="pto.vmi.compress"):
    """The active lanes of a logical vector side by side at its front; the rest is zero.

    The lanes of one whole register.

        %r = pto.vmi.compress %v, %mask : !pto.vmi.vreg<64xf32>, !pto.vmi.mask<64xpred> -> !pto.vmi.vreg<64xf32>
    """

    form = "$input:logical, $mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from alike(self, "input", "result")
        yield from governed(self, "mask", "input")

    def limits(self) -> Iterator[Problem]:
        if not _fills_a_register(self, "input"):
            yield Problem(f"{self.name} takes the lanes of one whole register", at="input", kind="unsupported")


class VmiActiveBefore(VmiOperation, name="pto.vmi.active_prefix_index"):
    """The number of active lanes of a mask before each lane.

    Signless integers, of the lanes of one whole register.

        %r = pto.vmi.active_prefix_index %mask : !pto.vmi.mask<64xpred> -> !pto.vmi.vreg<64xi32>
    """

    form = "$mask:truths -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from elements_among(self, "result", frozenset({"i8", "i16", "i32"}))
        yield from governed(self, "mask", "result")

    def limits(self) -> Iterator[Problem]:
        if not _fills_a_register(self, "result"):
            yield Problem(f"{self.name} gives the lanes of one whole register", at="result", kind="unsupported")


class VmiShuffle(VmiOperation, name="pto.vmi.shuffle"):
    """Lanes of a logical vector by numbers that are written.

    Lane k is the lane with the k-th number.

        %r = pto.vmi.shuffle %v[3, 2, 1, 0] : !pto.vmi.vreg<64xf32> -> !pto.vmi.vreg<4xf32>
    """

    form = "$input:logical[#indices] -> $result:logical"
    indices = Property()

    @property
    def numbers(self) -> Sequence[int]:
        return integers_in(self.indices)

    def shapes(self) -> Iterator[Problem]:
        if self.element("input") != self.element("result"):
            message = f"result of {self.name} holds {self.element('result')}, but input {self.element('input')}"
            yield Problem(message, at="result")
        if self.vector("result") is None or self.vector("input") is None:
            return
        if len(self.numbers) != self.lanes("result"):
            yield Problem(f"{self.name} has {len(self.numbers)} numbers for {self.lanes('result')} lanes", at="indices")
        wrong = next((number for number in self.numbers if not 0 <= number < self.lanes("input")), None)
        if wrong is not None:
            yield Problem(f"{self.name}: {wrong} is no lane of {self.lanes('input')}", at="indices")


class _Channels(VmiOperation):
    @classmethod
    def _count_results(cls, parser: LocatedParser, count: int) -> None:
        """Any number: the rules say how many channels there may be."""

    def channel_rules(self, whole: str, parts: Sequence[Attribute]) -> Iterator[Problem]:
        type_ = self.vector(whole)
        if type_ is None:
            return
        count = len(parts)
        if count not in (2, 4):
            yield Problem(f"{self.name} has 2 or 4 channels, not {count}", kind="unsupported")
        elif type_.lanes % count or any(
            part != LogicalVectorType.of(type_.lanes // count, type_.element) for part in parts
        ):
            yield Problem(
                f"each of {count} channels of {self.name} has {type_.lanes / count:g} lanes of {type_.element}"
            )


class VmiChannelSplit(_Channels, name="pto.vmi.channel_split"):
    """A logical vector as its channels: lane k of channel c is lane k * n + c.

    The assembler reads the generic form only.

        %a, %b = "pto.vmi.channel_split"(%v)
            : (!pto.vmi.vreg<64xf32>) -> (!pto.vmi.vreg<32xf32>, !pto.vmi.vreg<32xf32>)
    """

    form = "$input:logical -> $channels:logical..."

    def shapes(self) -> Iterator[Problem]:
        yield from self.channel_rules("input", [result.type for result in self.results])


class VmiChannelMerge(_Channels, name="pto.vmi.channel_merge"):
    """Channels as one logical vector: lane k * n + c is lane k of channel c.

    The assembler reads the generic form only.

        %v = "pto.vmi.channel_merge"(%a, %b)
            : (!pto.vmi.vreg<32xf32>, !pto.vmi.vreg<32xf32>) -> !pto.vmi.vreg<64xf32>
    """

    form = "$channels:logical... -> $result:logical"

    def shapes(self) -> Iterator[Problem]:
        yield from self.channel_rules("result", [value.type for value in self.operands])
