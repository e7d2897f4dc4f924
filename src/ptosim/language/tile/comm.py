"""Communication between ranks and blocks: copies between windows, signals, collectives of a group.

The instructions only see addresses in global memory; which rank a view belongs to is decided when it runs. Transfers
without waiting are in comm_async.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import i32

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language import operation
from ptosim.language.rules import tile_place_rules
from ptosim.language.rules.operand_rules import nth
from ptosim.language.rules.tile_rules import at_type, extents, name_of
from ptosim.language.text.call_syntax import CallOperation
from ptosim.language.tile.tile_attributes import KINDS
from ptosim.language.tile.tile_types import PartitionViewType, ViewExtents, view_of

# --- rules ------------------------------------------------------------------------------------------------------------


def staged(op: CallOperation, like: str, *roles: str) -> Iterator[operation.Problem]:
    """The tiles that data pass through are in UB and have the elements that pass; a second one is like the first."""
    for role in roles:
        if not op.has(role):
            continue
        wrong = [*tile_place_rules.lies_in(op, role, "vec"), *tile_place_rules.same_elements(op, role, like)]
        yield from wrong
        if not wrong and op.tile(role) != op.tile("ping"):
            types = [op.segment(each)[0].type for each in ("ping", role)]
            yield at_type(op, role, f"to have the type of ping, {types[0]}", types[1])


def chunks_divide(op: CallOperation, view: ViewExtents) -> Iterator[operation.Problem]:
    """Checks the chunks of a transfer: a larger region passes in chunks that divide the view."""
    *outer, rows, cols = (1, *view.shape) if view.rank == 1 else view.shape
    valid = op.tile("ping").valid
    whole = tile_place_rules.count((*outer, rows))
    fits = all(
        extent is not None and (limit is None or extent <= limit)
        for extent, limit in zip((whole, cols), valid, strict=True)
    )
    for side, extent, step in zip(("rows", "columns"), (rows, cols), valid, strict=True):
        if not fits and extent is not None and step and extent % step:
            message = f"ping passes {step} {side} at a time, which does not divide the {extent} {side} of the view"
            yield operation.Problem(
                message, at="ping_type", hint="leave its valid region dynamic, or make it a divisor"
            )


class CommOperation(CallOperation):
    """An operation by which ranks and blocks reach each other."""


class _Staged(CommOperation):
    """Data that pass through one tile in UB, or through two that take turns."""

    pipes = (Pipe.MTE2, Pipe.MTE3)
    cores = (CoreKind.AIV,)
    scratch = ("ping", "pong")
    ping = operation.Operand()
    pong = operation.OptionalOperand()

    def pipe(self, target: str) -> Pipe:
        """The last of its phases: MTE2 reads the source, MTE3 writes the destination."""
        return Pipe.MTE3


# --- copies -----------------------------------------------------------------------------------------------------------


class _Copy(_Staged):
    """`X(%dst, %src, buf(%ping, %pong) : ..)`."""

    outs = ("dst",)
    views = ("dst", "src")
    groups = {"buf": ("ping", "pong")}
    operand_order = ("dst", "src")
    dst = operation.Operand()
    src = operation.Operand()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        dst, src = tile_place_rules.view_at(self, "dst"), tile_place_rules.view_at(self, "src")
        for role, view in (("dst", dst), ("src", src)):
            yield from tile_place_rules.has_elements(self, role)
            if None in view.shape and not isinstance(self.segment(role)[0].type, PartitionViewType):
                yield at_type(self, role, "with dynamic extents to be a partition view", self.segment(role)[0].type)
        yield from tile_place_rules.same_elements(self, "src", "dst")
        if dst.shape != src.shape:
            yield at_type(
                self, "src", f"to have the static and dynamic extents of dst, {extents(dst.shape)}", extents(src.shape)
            )
        yield from staged(self, "dst", "ping", "pong")
        yield from chunks_divide(self, src)


class TPut(_Copy, name="pto.comm.tput"):
    """Write to another rank.

    dst = src, in chunks of the valid region of the tile that they pass through; two tiles let the store of one chunk
    overlap the load of the next. `atomicType` atomic_add adds to what is there, element by element. The scalar unit
    goes on: a fence before pto.comm.tnotify makes the data arrive before the signal.

        pto.comm.tput(%dst, %src, buf(%ping) : !pto.partition_tensor_view<16x64xf32>,
            !pto.partition_tensor_view<16x64xf32>, !pto.tile_buf<vec, 16x64xf32>)
    """

    words = {"atomicType": KINDS["atomic_type"]}
    defaults = {"atomicType": "atomic_none"}
    atomicType = operation.OptionalProperty()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        yield from tile_place_rules.may_be_added_to(self, "dst")


class TGet(_Copy, name="pto.comm.tget"):
    """Read from another rank.

    dst = src, in chunks as by pto.comm.tput.

        pto.comm.tget(%dst, %src, buf(%ping, %pong) : !pto.partition_tensor_view<32x64xf32>,
            !pto.partition_tensor_view<32x64xf32>, !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>)
    """

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        if "atomicType" in self.attributes:
            yield operation.Problem(
                "pto.comm.tget has no atomic form: only pto.comm.tput adds to what is there", at="atomicType"
            )


# --- signals ----------------------------------------------------------------------------------------------------------


class _Signal(CommOperation):
    """Words of i32 in global memory, and a value; on the scalar unit."""

    pipes = (Pipe.S,)
    views = ("signal",)
    scalars = ("value",)
    signal = operation.Operand()
    value = operation.Operand("i32")

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        view = tile_place_rules.view_at(self, "signal")
        yield from tile_place_rules.static_view(self, "signal", view)
        if view.element != i32:
            yield at_type(self, "signal", "to hold i32", name_of(view.element))


class TNotify(_Signal, name="pto.comm.tnotify"):
    """Signal a word, here or on another rank.

    set stores the value, atomic_add adds it (modulo 2^32). It does not wait for copies: what the signal is to announce
    must have arrived, by pto.fence.barrier_all before it.

        pto.comm.tnotify(%signal, %value : !pto.partition_tensor_view<1xi32>, i32) {notifyOp = #pto<notify_op set>}
    """

    outs = ("signal",)
    partly_writes = ("signal",)
    words = {"notifyOp": KINDS["notify_op"]}
    notifyOp = operation.Property()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        size = tile_place_rules.count(tile_place_rules.view_at(self, "signal").shape)
        if size is not None and size > 1:
            yield at_type(self, "signal", "to be one word", f"{size} words")


class TWait(_Signal, name="pto.comm.twait"):
    """Wait until words satisfy a condition.

    The scalar unit polls all words of the view until every one satisfies `word cmp value`, signed, in one pass. Nothing
    is consumed or reset. Later entries, on any pipe of this core, come after it.

        pto.comm.twait(%signal, %value : !pto.partition_tensor_view<1xi32>, i32) {cmp = #pto<wait_cmp ge>}
    """

    words = {"cmp": KINDS["wait_cmp"]}
    cmp = operation.Property()


class TTest(_Signal, name="pto.comm.ttest"):
    """Ask whether words satisfy a condition.

    True if every word of the view satisfies `word cmp value`, signed. One pass, without waiting.

        %ok = pto.comm.ttest(%signal, %value : !pto.partition_tensor_view<1xi32>, i32) {cmp = #pto<wait_cmp ge>} -> i1
    """

    words = {"cmp": KINDS["wait_cmp"]}
    cmp = operation.Property()
    result = operation.Result("i1")


# --- collectives ------------------------------------------------------------------------------------------------------


class Collective(_Staged):
    """A buffer of the root and one view for each rank, which only the root executes."""

    views = ("src", "dst", "group")
    numbers = ("root",)
    groups = {"recv": ("ping", "pong"), "group": ("group",)}
    operand_order = ("src", "dst", "acc", "ping", "pong", "group")
    group = operation.VariadicOperand()
    root = operation.Property()

    @property
    def buffer(self) -> str:
        """The role of the root's own buffer."""
        return self.operand_roles[0]

    def members(self) -> list[ViewExtents]:
        return [view for value in self.group if (view := view_of(value.type)) is not None]

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from tile_place_rules.static_view(self, self.buffer, tile_place_rules.view_at(self, self.buffer))
        if not self.group:
            yield operation.Problem(f"the group of {self.name} has no members")
            return
        yield from self._group()
        root = self.setting("root")
        if isinstance(root, int) and not 0 <= root < len(self.group):
            yield operation.Problem(f"root is {root}; the group has members 0..{len(self.group) - 1}", at="root")
        yield from staged(self, self.buffer, "ping", "pong", *(("acc",) if "acc" in self.operand_roles else ()))
        yield from chunks_divide(self, self.members()[0])

    def _group(self) -> Iterator[operation.Problem]:
        expected = self.group[0].type
        element = tile_place_rules.element_at(self, self.buffer)
        for index, (value, view) in enumerate(zip(self.group, self.members(), strict=True)):
            place = nth("group", index)
            yield from tile_place_rules.static_view(self, place, view)
            if value.type != expected:
                yield at_type(self, place, f"to have the type of the other members, {expected}", value.type)
            elif not index and view.element != element:
                wanted = f"to have elements of {name_of(element)} like {self.buffer}"
                yield at_type(self, place, wanted, name_of(view.element))

    def holds(self, parts: int) -> Iterator[operation.Problem]:
        """The root's buffer has room for so many members, one below the other. Several members of a line follow each
        other, and a view of the first of them is enough: the address runs on, up to the end of the buffer."""
        buffer, members = tile_place_rules.view_at(self, self.buffer), self.members()
        if parts > 1 and buffer.rank == 1:
            return
        size, part = tile_place_rules.count(buffer.shape), tile_place_rules.count(members[0].shape) if members else None
        if size is None or part is None:
            return
        found, needed = _alike(buffer.shape, members[0].shape)
        needed[-2] *= parts
        message = ""
        if size < part * parts:
            several = f"{parts} members of {part} need {part * parts}"
            message = f"{self.buffer} has {size} elements, but {several if parts > 1 else f'a member has {part}'}"
        elif buffer.rank > 1 and any(there < wanted for there, wanted in zip(found, needed, strict=True)):
            message = f"{self.buffer} is {_sides(found)}, but it holds {_sides(needed)}"
        if message:
            yield operation.Problem(message, at=f"{self.buffer}_type", kind="out-of-bounds")


def _alike(*shapes: Sequence[int | None]) -> list[list[int]]:
    """Shapes of known extents with as many leading ones as they need to have equally many, and rows."""
    rank = max(2, *map(len, shapes))
    return [[1] * (rank - len(shape)) + [side or 0 for side in shape] for shape in shapes]


def _sides(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))


class TBroadcast(Collective, name="pto.comm.tbroadcast"):
    """Send a buffer to every member of a group.

    Only the root executes it: every view of the group, its own included, becomes src.

        pto.comm.tbroadcast(%src, recv(%ping), group(%g0, %g1) : !pto.partition_tensor_view<16x64xf32>,
            !pto.tile_buf<vec, 16x64xf32>, !pto.partition_tensor_view<16x64xf32>, !pto.partition_tensor_view<16x64xf32>)
            {root = 0 : i32}
    """

    outs = ("group",)
    src = operation.Operand()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        if self.group and self.src.type != self.group[0].type:
            yield at_type(self, "src", f"to have the type of the members, {self.group[0].type}", self.src.type)


class CommTGather(Collective, name="pto.comm.tgather"):
    """Collect the buffers of a group.

    Only the root executes it: rows [r H, (r + 1) H) of dst become the view of member r, where H is the number of its
    rows. Further rows of dst keep their contents. A dst of one dimension takes the elements of the members one after
    the other, also where it is a view of fewer: only the end of its buffer stops it.

        pto.comm.tgather(%dst, recv(%ping), group(%g0, %g1) : !pto.partition_tensor_view<32x64xf32>,
            !pto.tile_buf<vec, 16x64xf32>, !pto.partition_tensor_view<16x64xf32>, !pto.partition_tensor_view<16x64xf32>)
            {root = 0 : i32}
    """

    outs = ("dst",)
    partly_writes = ("dst",)
    dst = operation.Operand()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        yield from self.holds(len(self.group))


class CommTScatter(Collective, name="pto.comm.tscatter"):
    """Distribute the rows of a buffer over a group.

    Only the root executes it: the view of member r becomes rows [r H, (r + 1) H) of src, where H is the number of its
    rows. Further rows of src are not read. A src of one dimension has the elements of the members one after the other,
    also where it is a view of fewer: only the end of its buffer stops it.

        pto.comm.tscatter(%src, recv(%ping), group(%g0, %g1) : !pto.partition_tensor_view<32x64xf32>,
            !pto.tile_buf<vec, 16x64xf32>, !pto.partition_tensor_view<16x64xf32>, !pto.partition_tensor_view<16x64xf32>)
            {root = 0 : i32}
    """

    outs = ("group",)
    src = operation.Operand()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        yield from self.holds(len(self.group))


class TReduce(Collective, name="pto.comm.treduce"):
    """Combine the buffers of a group.

    Only the root executes it: dst = ((group[root] op group[0]) op group[1]) ..., in ascending order without the root,
    rounding each time. The accumulator and the receiving tiles are alike.

        pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : !pto.partition_tensor_view<16x64xf32>,
            !pto.tile_buf<vec, 16x64xf32>, !pto.tile_buf<vec, 16x64xf32>, !pto.partition_tensor_view<16x64xf32>,
            !pto.partition_tensor_view<16x64xf32>) {reduceOp = #pto<reduce_op sum>, root = 0 : i32}
    """

    pipes = (Pipe.MTE2, Pipe.V, Pipe.MTE3)
    outs = ("dst",)
    scratch = ("acc", "ping", "pong")
    words = {"reduceOp": KINDS["reduce_op"]}
    dst = operation.Operand()
    acc = operation.Operand()
    reduceOp = operation.Property()

    def tile_rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().tile_rules(target)
        yield from self.holds(1)
