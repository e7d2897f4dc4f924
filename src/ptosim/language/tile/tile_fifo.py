"""FIFOs between the cube core and the vector cores of a cluster: initialisation, push, pop, free.

A FIFO has an id in the function of each of its ends. What the operations of one FIFO ask of each other, the entry that
a pop gives and its free, is in fifo_rules.py; the form with handles, in tile_pipe.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from ptosim.effects.names import CoreKind, Pipe
from ptosim.language.operation import Operand, OptionalOperand, OptionalProperty, Problem, Property, Result
from ptosim.language.rules.tile_place_rules import holds, lies_in
from ptosim.language.rules.tile_rules import at_type
from ptosim.language.structure.function import function_of
from ptosim.language.text.call_syntax import CallOperation
from ptosim.language.tile.fifo_end import C2V, SPLITS, V2C, InitializePipe, belongs_to_side
from ptosim.language.tile.tile_types import TensorViewType, tile_of


class AicInitializePipe(InitializePipe, name="pto.aic_initialize_pipe"):
    """Set up the cube's end of a FIFO.

    `dir_mask` is 1 for cube to vector, 2 for vector to cube, 3 for both. An entry has `slot_size` bytes, unsplit, and
    there are `slot_num` of them for each direction (8, or 4 of each). The consumer buffer is where entries arrive: in
    UB from the cube, in L1 from the vector cores; on a2a3, and with gm_slot_tensor, they pass through global memory.
    With `nosplit` one vector core is served. An `acc_push_epilogue` says what the fixpipe does on the way.

        pto.aic_initialize_pipe {dir_mask = 1, slot_size = 16384} (c2v_consumer_buf = %a : i32)
    """

    cores = (CoreKind.AIC,)


class AivInitializePipe(InitializePipe, name="pto.aiv_initialize_pipe"):
    """Set up the vector cores' end of a FIFO.

    Attributes and operands are those of pto.aic_initialize_pipe of the other end.

        pto.aiv_initialize_pipe {dir_mask = 1, slot_size = 16384} (c2v_consumer_buf = %a : i32)
    """

    cores = (CoreKind.AIV,)


# --- entries ----------------------------------------------------------------------------------------------------------


class FifoOperation(CallOperation):
    """An operation on the FIFO of an id."""

    numbers = ("id", "split")
    plain = numbers
    defaults = {"id": 0}
    direction: ClassVar[int]
    id = OptionalProperty()

    @property
    def number(self) -> int:
        return int(self.setting("id") or 0)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from belongs_to_side(self)


class EntryOperation(FifoOperation):
    """An operation on an entry. `split` says how the two vector cores share it."""

    untyped = ("entry",)
    scalars = ("aiv_subblockid", "valid_row", "valid_col")
    split = Property()

    @property
    def shared(self) -> int:
        return self.integer("split") or 0

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        if self.shared not in SPLITS:
            yield Problem(f"split is {self.shared}; it must be 0..{SPLITS[-1]}", at="split")
        if self._has("aiv_subblockid") and self.shared == 0:
            yield Problem("aiv_subblockid is for an entry that is split", at="aiv_subblockid")

    def _has(self, role: str) -> bool:
        return role in self.operand_roles and self.has(role)

    def entry_rules(self, role: str, type_: Attribute, memory: str) -> Iterator[Problem]:
        """An entry is a tile in the memory of its end, or a view of the slot in global memory."""
        tile, place = tile_of(type_), role if role in self.result_roles else f"{role}_type"
        if tile is None and not isinstance(type_, TensorViewType):
            yield Problem(f"{self.name} expects {role} to be a tile or a tensor view, not {type_}", at=place)
        elif tile is not None and tile.loc != memory:
            yield Problem(f"{self.name} expects {role} in {memory}, not {tile.loc}", at=place)


class Push(EntryOperation):
    """A producer's entry: it is moved into the next slot, once that is free."""

    memory: ClassVar[str]
    entry = Operand()

    def pipe(self, target: str) -> Pipe:
        (pipe,) = self.pipes
        return pipe

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from self.entry_rules("entry", self.entry.type, self.memory)


class TPushToAiv(Push, name="pto.tpush_to_aiv"):
    """Push a tile of the accumulator to the vector cores.

    It waits until a slot is free, moves the tile there through the fixpipe and signals it. With `split` 1 the upper and
    the lower half go to one vector core each, with 2 the left and the right half. An entry of pto.talloc_to_aiv is only
    signalled: its data were stored before.

        pto.tpush_to_aiv(%c : !pto.tile_buf<acc, 16x64xf32, blayout=col_major, slayout=row_major, fractal=1024>)
            {split = 0}
    """

    cores = (CoreKind.AIC,)
    pipes = (Pipe.FIX,)
    direction = C2V
    memory = "acc"


class TPushToAic(Push, name="pto.tpush_to_aic"):
    """Push a tile of a vector core to the cube.

    It waits until a slot is free, moves the tile there and signals it. With `split` 1 the two vector cores bring the
    upper and the lower half of an entry, with 2 the left and the right half.

        pto.tpush_to_aic(%t : !pto.tile_buf<vec, 16x64xf16, blayout=col_major, slayout=row_major>) {split = 0}
    """

    cores = (CoreKind.AIV,)
    pipes = (Pipe.MTE3,)
    direction = V2C
    memory = "vec"
    later = ("aiv_subblockid",)
    entry = Operand()
    aiv_subblockid = OptionalOperand("i64|i32|index")


class Pop(EntryOperation):
    """A consumer's entry: the tile is the slot itself, until it is freed."""

    bare = True
    types_in_call = False
    later = ("aiv_subblockid",)
    memory: ClassVar[str]
    valid_row = OptionalOperand("index|i32|i64")
    valid_col = OptionalOperand("index|i32|i64")
    aiv_subblockid = OptionalOperand("i64|i32|index")
    result = Result()

    def pipe(self, target: str) -> Pipe:
        return consumer_pipe(self, target)

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from self.entry_rules("result", self.result.type, self.memory)
        if self.valid_row is not None and self.valid_col is None:
            yield Problem("a valid region has two extents: rows and columns", at="valid_row")
        tile = tile_of(self.result.type)
        if self.valid_col is not None and (tile is None or tile.valid != (None, None)):
            yield Problem(f"{self.name} takes a valid region only for a result with valid=?x?", at="valid_row")


def consumer_pipe(op: FifoOperation, target: str) -> Pipe:
    """The pipe that waits for an entry and that signals its slot free: the one that reads it first."""
    if target != "a5" or passes_gm(op, target):
        return Pipe.MTE2
    return Pipe.V if op.direction == C2V else Pipe.MTE1


def passes_gm(op: FifoOperation, target: str) -> bool:
    """Whether the FIFO of an operation passes through global memory: as its function initialises it."""
    function = function_of(op)
    pipes = () if function is None else (other for other in function.walk() if isinstance(other, InitializePipe))
    return any(pipe.through_gm(target) for pipe in pipes if pipe.number == op.number)


class TPopFromAic(Pop, name="pto.tpop_from_aic"):
    """Take an entry that the cube has pushed.

    It waits for the entry; the result is the slot itself, so it is used before pto.tfree_from_aic. A result with
    valid=?x? has the valid region of the operands, without them all of it.

        %t = pto.tpop_from_aic {split = 0} -> !pto.tile_buf<vec, 16x64xf32>
    """

    cores = (CoreKind.AIV,)
    pipes = (Pipe.V, Pipe.MTE2)
    direction = C2V
    memory = "vec"


class TPopFromAiv(Pop, name="pto.tpop_from_aiv"):
    """Take an entry that the vector cores have pushed.

    It waits for the entry; the result is the slot itself, so it is used before pto.tfree_from_aiv.

        %t = pto.tpop_from_aiv {split = 0} -> !pto.tile_buf<mat, 16x64xf16, blayout=col_major, slayout=row_major>
    """

    cores = (CoreKind.AIC,)
    pipes = (Pipe.MTE1, Pipe.MTE2)
    direction = V2C
    memory = "mat"


class Free(EntryOperation):
    """A consumer's slot goes back to the producer."""

    bare = True
    entry = OptionalOperand()

    def pipe(self, target: str) -> Pipe:
        return consumer_pipe(self, target)


class TFreeFromAic(Free, name="pto.tfree_from_aic"):
    """Give the slot of an entry back to the cube.

    When everything that reads the entry has ended. The entry may be named.

        pto.tfree_from_aic {split = 0}
    """

    cores = (CoreKind.AIV,)
    pipes = (Pipe.V, Pipe.MTE2)
    direction = C2V


class TFreeFromAiv(Free, name="pto.tfree_from_aiv"):
    """Give the slot of an entry back to the vector cores.

    When everything that reads the entry has ended. The entry may be named.

        pto.tfree_from_aiv {split = 0}
    """

    cores = (CoreKind.AIC,)
    pipes = (Pipe.MTE1, Pipe.MTE2)
    direction = V2C


class Alloc(EntryOperation):
    """A producer's slot in global memory, to be filled by its own stores and then pushed."""

    bare = True
    result = Result()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        if not isinstance(self.result.type, TensorViewType):
            yield Problem(f"{self.name} gives a tensor view of its slot, not {self.result.type}", at="result")


class TAllocToAiv(Alloc, name="pto.talloc_to_aiv"):
    """Take a free slot in global memory for an entry to the vector cores.

    The kernel stores to the view and pushes it.

        %v = pto.talloc_to_aiv {split = 0} -> !pto.tensor_view<16x64xf32>
    """

    cores = (CoreKind.AIC,)
    pipes = (Pipe.FIX,)
    direction = C2V


class TAllocToAic(Alloc, name="pto.talloc_to_aic"):
    """Take a free slot in global memory for an entry to the cube.

    The kernel stores to the view and pushes it.

        %v = pto.talloc_to_aic {split = 0} -> !pto.tensor_view<16x64xf16>
    """

    cores = (CoreKind.AIV,)
    pipes = (Pipe.MTE3,)
    direction = V2C


# --- parameters of the epilogue ---------------------------------------------------------------------------------------


class SetQuantScalar(FifoOperation, name="pto.set_quant_scalar"):
    """Set the scale with which entries to the vector cores are quantised.

    It holds for the pushes behind it in the same block.

        pto.set_quant_scalar(%scale : f32) {id = 0}
    """

    absorbed = "the pushes behind it are lowered with its scale"
    cores = (CoreKind.AIC,)
    pipes = (Pipe.FIX,)
    direction = C2V
    scalars = ("scale",)
    scale = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        if self.scale.type != f32:
            yield at_type(self, "scale", "to be f32", self.scale.type)


class SetQuantVector(FifoOperation, name="pto.set_quant_vector"):
    """Set the parameters, one for each column, with which entries to the vector cores are quantised.

    They hold for the pushes behind it in the same block.

        pto.set_quant_vector(%fp : !pto.tile_buf<scaling, 1x64xf32>) {id = 0}
    """

    absorbed = "the pushes behind it are lowered with its parameters"
    cores = (CoreKind.AIC,)
    pipes = (Pipe.FIX,)
    direction = C2V
    fp = Operand()

    def tile_rules(self, target: str) -> Iterator[Problem]:
        yield from super().tile_rules(target)
        yield from lies_in(self, "fp", "scaling")
        yield from holds(self, "fp", ("i64", "f16", "bf16", "f32"))
