"""Unaligned streams: loads and stores at any element, whose state travels in an `!pto.align` value.

How the state moves on is in effects/vector_stream.py, the rules about chains of align values are in align_streams.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute

from ptosim.language import operation
from ptosim.language.micro.demanded_lanes import Logical
from ptosim.language.rules.align_streams import continues_load, continues_store
from ptosim.language.rules.operand_rules import in_range, updated_base
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.text.overload import Overloaded
from ptosim.language.types import PtrType, element_of

UPDATES = Vocabulary(("POST_UPDATE", "NO_POST_UPDATE"))

# --- loads ------------------------------------------------------------------------------------------------------------


class VLdas(operation.PTOOperation, name="pto.vldas"):
    """Begin an unaligned load stream: read ahead the 32-byte granule around the pointer.

    The address is cut off to a granule and need not be aligned. The next vldus of the stream must load from it. What is
    stored to the granule between the two the stream may not have: `check` remarks on that.

        %align = pto.vldas %ub : !pto.ptr<f32, ub> -> !pto.align
    """

    form = "$source:ub -> $result:align"


class VLdus(Logical, name="pto.vldus"):
    """Load one register from any element of UB, as the next step of a load stream.

    Reads the 256 bytes at the pointer, which only has to be aligned to its elements. The second result is the stream
    afterwards: without an increment it stands behind the vector. A third result is the pointer advanced by the
    increment, in elements; without an increment (older form) by one whole register. `pto.vldas` begins a stream; an
    align value whose granule is not the one loaded from would merge bytes of the wrong granule. `for %mask` says which
    lanes count: the others become zero, and their bytes are not read.

        %align = pto.vldas %ub : !pto.ptr<f32, ub> -> !pto.align
        %v, %align1 = pto.vldus %ub, %align : !pto.ptr<f32, ub>, !pto.align -> !pto.vreg<64xf32>, !pto.align
        %start = pto.vldas %ub : !pto.ptr<f32, ub> -> !pto.align
        %w, %align2, %next = pto.vldus %ub, %start, %offset
            : !pto.ptr<f32, ub>, !pto.align, index -> !pto.vreg<64xf32>, !pto.align, !pto.ptr<f32, ub>
    """

    form = "$source:ub, $align:align{, $increment:index} -> $result:vreg, $align_out:align{, $next}"
    increment = operation.OptionalOperand()
    next = operation.OptionalResult()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from continues_load(self)
        yield from updated_base(self, "source", called="source")
        yield from self.logical_rules()
        if self.increment is not None and self.next is None:
            yield operation.Problem("an increment needs a third result, the advanced pointer", at="increment")


class UVld(Logical, name="pto.uvld"):
    """Load one register from any element of UB: a stream of a single vector.

    The same as a vldas and a vldus at the pointer plus the offset, which counts elements of the pointer. `for %mask`
    says which lanes count: the others become zero, and their bytes are not read.

        %v = pto.uvld %ub[%offset] : !pto.ptr<f32, ub> -> !pto.vreg<64xf32>
    """

    form = "$source:ub[$offset:index] -> $result:vreg"
    listed = ("source", "mask")

    def rules(self, target: str) -> Iterator[operation.Problem]:
        return self.logical_rules()


# --- stores -----------------------------------------------------------------------------------------------------------


class InitAlign(operation.PTOOperation, name="pto.init_align"):
    """Begin an unaligned store stream: nothing is pending yet.

    Stores (vstus, vstur, pstu) hand the align value on, a flush (vstas, vstar) ends the stream. Without the flush
    the last bytes never reach UB.

        %align = pto.init_align : !pto.align
    """

    form = "-> $result:align"


class _Step(operation.PTOOperation):
    """A store that hands its stream on."""

    def rules(self, target: str) -> Iterator[operation.Problem]:
        return continues_store(self)


class VStus(_Step, Overloaded, name="pto.vstus"):
    """Store the first elements of a register at any element of UB, as the next step of a store stream.

    Stores `offset` elements at the pointer itself: the offset is how far the stream advances, not where it stores.
    Complete 32-byte granules reach UB now, the rest stays in the align value until the next store or the flush (vstas).
    A second result is the pointer advanced by the offset. Two older forms pass the stream position before the register
    and the buffer behind it, or end with "POST_UPDATE" or "NO_POST_UPDATE" (which leaves the second result unadvanced).

        %align = pto.init_align : !pto.align
        %align1, %next = pto.vstus %align, %count, %v, %ub
            : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align, !pto.ptr<f32, ub>
        pto.vstas %align1, %next, %zero : !pto.align, !pto.ptr<f32, ub>, i32
    """

    form = "$align:align, $offset:i32, $value:vreg, $dest:ub{, @mode} -> $align_out:align{, $next}"
    words = {"mode": UPDATES}
    last_word = "mode"
    dest = operation.Operand()
    buffer = operation.OptionalOperand("ub")
    """The older form's second pointer, which only names the buffer that the stream is in."""

    @classmethod
    def assign(cls, types: list[Attribute]) -> tuple[str, ...]:
        if len(types) > 1 and isinstance(types[1], PtrType):
            return ("align", "dest", "value", "buffer", "offset")
        return ("align", "offset", "value", "dest")

    def modernise(self) -> None:
        """A second result is advanced unless the mode says otherwise."""
        if self.word("mode") == "POST_UPDATE":
            del self.properties["mode"]

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        yield from updated_base(self, "dest")
        if isinstance(self.dest.type, PtrType):
            yield from in_range(self, 0, element_of(self.dest.type.element).lanes, "offset")


class VStu(_Step, Overloaded, name="pto.vstu"):
    """Store a whole register at any element of UB, as the next step of a store stream (older; use vstus).

    The first form stores at `base` and gives the base advanced by one register where the last operand is not zero. The
    second stores `offset` elements behind the pointer and gives the offset advanced by one register ("POST_UPDATE") or
    as it was. Complete 32-byte granules reach UB now, the rest stays in the align value until the next store or flush.

        %start = pto.init_align : !pto.align
        %align, %next = pto.vstu %start, %ub, %v, %ub, %update
            : !pto.align, !pto.ptr<f32, ub>, !pto.vreg<64xf32>, !pto.ptr<f32, ub>, index
            -> !pto.align, !pto.ptr<f32, ub>
        pto.vsta %align, %next[%c0] : !pto.align, !pto.ptr<f32, ub>, index
        %start1 = pto.init_align : !pto.align
        %align1, %offset1 = pto.vstu %start1, %offset, %v, %ub, "POST_UPDATE"
            : !pto.align, index, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align, index
        pto.vsta %align1, %ub[%offset1] : !pto.align, !pto.ptr<f32, ub>, index
    """

    form = (
        "$align:align{, $offset:index}{, $base:ub}, $value:vreg, $dest:ub{, $update:index}{, @mode}"
        " -> $align_out:align, $next"
    )
    words = {"mode": UPDATES}
    last_word = "mode"
    base = operation.OptionalOperand()
    mode = operation.OptionalProperty()
    next = operation.Result()

    @classmethod
    def assign(cls, types: list[Attribute]) -> tuple[str, ...]:
        if len(types) > 1 and isinstance(types[1], PtrType):
            return ("align", "base", "value", "dest", "update")
        return ("align", "offset", "value", "dest")

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        if self.base is not None:
            yield from updated_base(self, "base")
            if self.mode is not None:
                yield operation.Problem(
                    "this form says by its last operand, not by a word, whether the base advances", at="mode"
                )
            return
        if not isinstance(self.next.type, IndexType):
            message = f"the second result of this form is the next offset, an index, not {self.next.type}"
            yield operation.Problem(message, at="next")
        if self.mode is None:
            yield operation.Problem(f"expected mode: one of {', '.join(UPDATES.words)}")


class VStur(_Step, name="pto.vstur"):
    """Store what the last squeeze kept of a register, as the next step of a store stream.

    Stores the first SQZN bytes of the register (SQZN: set by vsqz and vusqz) at the pointer plus AR bytes, and with
    "POST_UPDATE" advances AR by SQZN. AR outlives streams and scopes: clear it with `pto.sprclr "AR"`. Complete 32-byte
    granules reach UB now, the rest stays in the align value until the next store or the flush (vstar). Without a mode
    (older form) AR does not advance.

        %align = pto.init_align : !pto.align
        %align1 = pto.vstur %align, %v, %ub, "POST_UPDATE"
            : !pto.align, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align
        pto.vstar %align1, %ub : !pto.align, !pto.ptr<f32, ub>
    """

    form = "$align:align, $value:vreg, $dest:ub{, @mode} -> $align_out:align"
    words = {"mode": UPDATES}

    def modernise(self) -> None:
        """The older form without a mode does not update AR."""
        self.properties.setdefault("mode", StringAttr("NO_POST_UPDATE"))


# --- flushes ----------------------------------------------------------------------------------------------------------


class _Flush(operation.PTOOperation):
    """The end of a store stream."""

    def rules(self, target: str) -> Iterator[operation.Problem]:
        return continues_store(self)


class VStas(_Flush, name="pto.vstas"):
    """End a store stream: write the bytes that are still pending.

    The pointer plus the offset (elements) must be where the stream ended. With a result the pointer itself must be
    there, and the result is the pointer advanced by the offset. An empty stream writes nothing.

        %align = pto.init_align : !pto.align
        %align1 = pto.vstus %align, %count, %v, %ub
            : !pto.align, i32, !pto.vreg<64xf32>, !pto.ptr<f32, ub> -> !pto.align
        pto.vstas %align1, %ub, %count : !pto.align, !pto.ptr<f32, ub>, i32
    """

    form = "$align:align, $dest:ub, $offset:i32 -> {$next}"

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        yield from updated_base(self, "dest")


class VSta(_Flush, name="pto.vsta"):
    """End a store stream: write the bytes that are still pending (older; use vstas).

    The pointer plus the offset (elements) must be where the stream ended.

        %align = pto.init_align : !pto.align
        pto.vsta %align, %ub[%offset] : !pto.align, !pto.ptr<f32, ub>, index
    """

    form = "$align:align, $dest:ub[$offset:index]"


class VStar(_Flush, name="pto.vstar"):
    """End a store stream of squeezed registers: write the bytes that are still pending.

    The pointer plus AR bytes must be where the stream ended.

        %align = pto.init_align : !pto.align
        pto.vstar %align, %ub : !pto.align, !pto.ptr<f32, ub>
    """

    form = "$align:align, $dest:ub"
