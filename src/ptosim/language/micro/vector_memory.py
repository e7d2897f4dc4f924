"""Vector loads and stores between UB and registers, contiguous and strided.

Where each byte goes and how far an access reaches is in effects/vector_memory.py. Gathers and scatters are in
vector_gather.py, unaligned streams in vector_stream.py, loads and stores of masks in predicate.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from ptosim.effects import vector_memory
from ptosim.language import operation
from ptosim.language.micro.demanded_lanes import Logical
from ptosim.language.micro.vector import mask_matches, same_types, type_of
from ptosim.language.rules.operand_rules import updated_base
from ptosim.language.text.assembly_format import Vocabulary, compile_form, parse_form
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.text.overload import Overloaded
from ptosim.language.types import MaskType, VregType, element_of, mask_for

LOAD_DISTS = Vocabulary(
    tuple(vector_memory.LOAD_MODES), {"BLK": "BRC_BLK", "UNPK4_B8": "UNPK4", "SPLT4CHN_B8": "SPLT4CHN"}
)
DUAL_LOAD_DISTS = Vocabulary(tuple(vector_memory.DUAL_LOAD_MODES))
STORE_DISTS = Vocabulary(tuple(vector_memory.STORE_MODES))
DUAL_STORE_DISTS = Vocabulary(tuple(vector_memory.DUAL_STORE_MODES))
LOAD_STRIDES = Vocabulary(tuple(vector_memory.STRIDED_LOAD_MODES))
STORE_STRIDES = Vocabulary(tuple(vector_memory.STRIDED_STORE_MODES))

# --- rules shared in this room ----------------------------------------------------------------------------------------


def _supported(mode: vector_memory.LoadMode | vector_memory.StoreMode) -> Iterator[operation.Problem]:
    if not mode.on_hardware:
        message = (
            f"dist {mode.name} is unsupported on current hardware; it is simulated as the instruction set words it"
        )
        yield operation.lint(message, at="dist")


def _unspecified(op: operation.PTOOperation) -> Iterator[operation.Problem]:
    message = f"{op.name} is an unspecified operation: no public text says which elements its stride selects"
    hint = f"{op.name} is read as every n-th unit, n and the unit taken from the name of the stride"
    yield operation.lint(message, hint=hint)


class _Distributed(operation.PTOOperation):
    """A load or store whose dist may also stand among the operands; it is printed in the dictionary."""

    spelling: ClassVar[str]

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        parsed = parse_form(parser, compile_form(cls.spelling), cls.words)
        return cls.parse_rest(parser, parsed.operands, {name: StringAttr(word) for name, word in parsed.words.items()})


# --- contiguous loads -------------------------------------------------------------------------------------------------


class VLds(_Distributed, Logical, name="pto.vlds"):
    """Load one register from UB, distributed over its lanes by `dist`.

    Without a dist (NORM) the 256 bytes at the address; BRC_* and BRC_BLK repeat one unit, US_* doubles and DS_* drops
    every second unit, UNPK_* and UNPK4 zero-extend, E2B_* fills each 32-byte lane with one element, SPLT* takes the
    first channel. The offset counts elements of the pointer. The address is a multiple of 32 bytes (BRC_*: of one unit,
    E2B_B16: of 16). There is no mask: the whole footprint is read and must lie in UB. With a second result the access
    is at the pointer itself, and the result is the pointer advanced by the offset.

    `for %mask` says which lanes count: the others become zero, and memory that none of them needs is not read, so that
    it may be undefined or lie outside of UB.

        %v = pto.vlds %ub[%offset] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        %b = pto.vlds %ub[%offset] {dist = "BRC_B32"} : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
        %w, %next = pto.vlds %ub[%offset] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>, !pto.ptr<f32, ub>
        %t = pto.vlds %ub[%offset] for %mask : !pto.ptr<f32, ub>, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$source:ub[$offset:index] -> $result:vreg{, $next}"
    spelling = "$source[$offset]{, @dist}"
    listed = ("source", "mask")
    words = {"dist": LOAD_DISTS}
    dist = operation.OptionalProperty()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from updated_base(self, "source")
        yield from self.logical_rules()
        mode = vector_memory.load_mode(self.word("dist"))
        yield from _supported(mode)
        if mode.name != "NORM":
            yield from _at_most_32_bits(self, "result")


class VLdsX2(Logical, name="pto.vldsx2"):
    """Load two registers from 512 bytes of UB, taking units alternately: the way from pairs to two vectors.

    DINTLV_B8, B16, B32 put even units into the first result and odd ones into the second; BDINTLV does the same with
    32-byte blocks. The offset counts elements of the pointer; the address is a multiple of 32 bytes. With a third
    result the access is at the pointer itself, and the result is the pointer advanced by the offset. `for %mask` says
    which lanes of both registers count: the others become zero, and memory that none of them needs is not read.

        %x, %y = pto.vldsx2 %ub[%offset], "DINTLV_B32"
            : !pto.ptr<f32, ub>, index -> !pto.vreg<64xf32>, !pto.vreg<64xf32>
    """

    form = "$source:ub[$offset:index]{, @dist} -> $low:vreg, $high:vreg{, $next}"
    words = {"dist": DUAL_LOAD_DISTS}
    loaded = "low"
    dist = operation.Property()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from self.logical_rules()
        yield from same_types(self, "low", "high")
        yield from updated_base(self, "source")
        yield from _at_most_32_bits(self, "low")


def _at_most_32_bits(op: operation.PTOOperation, role: str) -> Iterator[operation.Problem]:
    type_ = getattr(op, role).type
    if isinstance(type_, VregType) and element_of(type_).bytes == 8:
        message = f"registers of 64-bit elements are loaded with dist NORM only, not {op.word('dist')}"
        yield operation.Problem(message, at="dist")


# --- contiguous stores ------------------------------------------------------------------------------------------------


class VSts(_Distributed, name="pto.vsts"):
    """Store one register to UB, collected from its lanes by `dist`; bytes of inactive lanes stay as they are.

    Without a dist all lanes in place. 1PT_* stores only the first unit, whatever the mask says. PK_* and PK4_B32 store
    the low part of each unit side by side: unit u always goes to slot u, nothing is squeezed or saturated. MRG* bring
    channels together inside 32-byte granules. The mask has the granularity of the elements, except that PK_B16 and
    MRG2CHN_B8 take b16 and the other packing and merging modes b32; MRG* also take the granularity of their units, and
    a bit then decides a unit in memory. The offset counts elements of the pointer; the address is a multiple of 32
    bytes (1PT_*: of one unit). Without a mask every lane is active. With a result the access is at the pointer itself,
    and the result is the pointer advanced by the offset.

        pto.vsts %v, %ub[%offset], %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
        pto.vsts %v, %ub[%offset], %mask {dist = "PK_B32"} : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, !pto.mask<b32>
    """

    form = "$value:vreg, $dest:ub[$offset:index]{, $mask:mask} -> {$next}"
    spelling = "$value, $dest[$offset]{, @dist}{, $mask}{, @dist}"
    listed = ("value", "dest", "mask")
    words = {"dist": STORE_DISTS}
    value = operation.Operand()
    mask = operation.OptionalOperand()
    dist = operation.OptionalProperty()

    def mask_type(self) -> MaskType | None:
        if not isinstance(type_ := self.value.type, VregType):
            return None
        granularity = vector_memory.store_mode(self.word("dist"), element_of(type_)).granularity
        return mask_for(type_) if granularity is None else MaskType(StringAttr(granularity))

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from updated_base(self, "dest")
        if not isinstance(type_ := self.value.type, VregType):
            return
        stride = self.mask.type.stride if self.mask is not None and isinstance(self.mask.type, MaskType) else None
        mode = vector_memory.store_mode(self.word("dist"), element_of(type_), stride)
        yield from _supported(mode)
        if self.mask is not None:
            yield from _store_mask(self, mode, type_, self.mask.type)


def _store_mask(
    op: operation.PTOOperation, mode: vector_memory.StoreMode, type_: VregType, mask: Attribute
) -> Iterator[operation.Problem]:
    element = element_of(type_)
    if mode.granularity is None:
        yield from mask_matches(op, "mask", type_)
        if mode.name.startswith("NORM") and len(set(mode.gate)) > element.lanes:
            message = f"dist {mode.name} looks at mask bits between those of {element.name} lanes, which are not set"
            yield operation.lint(message, at="dist")
    elif element.kind != "lowprecision" or not isinstance(mask, MaskType):
        yield from mask_matches(op, "mask", type_, MaskType(StringAttr(mode.granularity)))


class VStsX2(operation.PTOOperation, name="pto.vstsx2"):
    """Store two registers to 512 bytes of UB, their units alternating: the way from two vectors to pairs.

    INTLV_B8, B16, B32 name the unit. The mask must have the granularity of the elements, but its value has no effect:
    everything is written. The offset counts elements of the pointer; the address is a multiple of 32 bytes.

        pto.vstsx2 %x, %y, %ub[%offset], "INTLV_B32", %mask
            : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.ptr<f32, ub>, index, !pto.mask<b32>
    """

    form = "$low:vreg, $high:vreg, $dest:ub[$offset:index]{, @dist}, $mask:mask"
    words = {"dist": DUAL_STORE_DISTS}
    low = operation.Operand()
    dist = operation.Property()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from same_types(self, "low", "high")
        yield from mask_matches(self, "mask", self.low.type)


# --- strided ----------------------------------------------------------------------------------------------------------


class VSld(operation.PTOOperation, name="pto.vsld"):
    """Load every n-th unit of UB into one register (older; which elements are meant is published nowhere).

    STRIDE_S3_B16 is read as every third 16-bit unit from the address, and so on. The offset counts elements of the
    pointer. Use vldsx2, vsldb or a gather instead.

        %v = pto.vsld %ub[%offset], "STRIDE_S8_B32" : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    """

    form = "$source:ub[$offset:index], @stride -> $result:vreg"
    listed = ("source",)
    words = {"stride": LOAD_STRIDES}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        return _unspecified(self)


class VSst(operation.PTOOperation, name="pto.vsst"):
    """Store one register to every n-th unit of UB (older; which elements are meant is published nowhere).

    STRIDE_S3_B16 is read as every third 16-bit unit from the address, and so on; bytes between them stay as they are.
    The offset counts elements of the pointer. Use vstsx2, vsstb or vscatter instead.

        pto.vsst %v, %ub[%offset], "STRIDE_S8_B32" : !pto.vreg<64xf32>, !pto.ptr<f32, ub>
    """

    form = "$value:vreg, $dest:ub[$offset:index], @stride"
    listed = ("value", "dest")
    words = {"stride": STORE_STRIDES}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        return _unspecified(self)


class _BlockStrided(Overloaded):
    """One register and blocks of UB at two strides, which the older form has in one word."""

    leading: ClassVar[tuple[str, ...]]
    """The operands before the strides, the pointer last."""
    register: ClassVar[str]

    @classmethod
    def assign(cls, types: list[Attribute]) -> tuple[str, ...]:
        strides = ("block_stride", "repeat_stride") if len(types) > len(cls.leading) + 2 else ("control",)
        return (*cls.leading, *strides, "mask")

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from mask_matches(self, "mask", type_of(self, self.register))
        yield from updated_base(self, self.leading[-1])


class VSldb(_BlockStrided, name="pto.vsldb"):
    """Load 8 blocks of 32 bytes from UB into one register, block b from b block strides further on.

    Both strides are unsigned and count 32-byte blocks; the first block is one repeat stride behind the pointer. With a
    second result it is at the pointer itself, and the result is the pointer advanced by the repeat stride. A block of
    which no mask bit is set is not read and becomes zero. The older form has both strides in one i32 word, the block
    stride in its upper half. The pointer is a multiple of 32 bytes.

        %v = pto.vsldb %ub, %block_stride, %repeat_stride, %mask
            : !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32> -> !pto.vreg<64xf32>
        %w = pto.vsldb %ub, %control, %mask : !pto.ptr<f32, ub>, i32, !pto.mask<b32> -> !pto.vreg<64xf32>
    """

    form = "$source:ub{, $control:i32}{, $block_stride:i16, $repeat_stride:i16}, $mask:mask -> $result:vreg{, $next}"
    leading = ("source",)
    register = "result"


class VSstb(_BlockStrided, name="pto.vsstb"):
    """Store the 8 blocks of 32 bytes of one register to UB, block b to b block strides further on.

    Both strides are unsigned and count 32-byte blocks; the first block is one repeat stride behind the pointer. With a
    result it is at the pointer itself, and the result is the pointer advanced by the repeat stride. Inactive lanes
    are not written. The older form has both strides in one i32 word, the block stride in its upper half. The pointer
    is a multiple of 32 bytes.

        pto.vsstb %v, %ub, %block_stride, %repeat_stride, %mask
            : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, i16, i16, !pto.mask<b32>
        pto.vsstb %v, %ub, %control, %mask : !pto.vreg<64xf32>, !pto.ptr<f32, ub>, i32, !pto.mask<b32>
    """

    form = "$value:vreg, $dest:ub{, $control:i32}{, $block_stride:i16, $repeat_stride:i16}, $mask:mask -> {$next}"
    leading = ("value", "dest")
    register = "value"
