"""Synchronisation between cores: the semaphores of a cluster and of all blocks, and the barrier over all blocks.

A semaphore's pipe may be absent on the core that executes it, and an id may be another core's: both are judged when
run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.language.micro.sync import PIPES, has_id, parse_number
from ptosim.language.operation import OptionalOperand, OptionalProperty, Problem, Property, PTOOperation, lint
from ptosim.language.rules.tile_place_rules import count, in_gm
from ptosim.language.text import assembly_format
from ptosim.language.text.located_parser import LocatedParser
from ptosim.language.tile.tile_types import view_of
from ptosim.language.types import PtrType
from ptosim.target import load_target

SEMAPHORE_PIPES = ("PIPE_FIX", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_V")
SCALAR_UNIT = "PIPE_S"
"""A pipe that may wait and not signal: the core goes no further until the signal has come."""


SLOTS = "pto.sim.slots"
"""An attribute of signals of a FIFO: the bytes of this core's memory that they speak for, from and to."""


FIFO = "pto.sim.fifo"
"""An attribute of signals that give slots of a FIFO back: how many there are, and how many come back at a time."""


def fifo_of(op: Operation) -> tuple[int, int] | None:
    """The slots of the FIFO that a signal gives back, and how many at a time; None for any other signal."""
    return _pair(op, FIFO)


def slots_of(op: Operation) -> tuple[int, int] | None:
    """The bytes that a signal speaks for, None for everything that another core can reach."""
    return _pair(op, SLOTS)


def _pair(op: Operation, name: str) -> tuple[int, int] | None:
    numbers = assembly_format.integers_in(op.attributes[name]) if name in op.attributes else ()
    return (numbers[0], numbers[1]) if len(numbers) == 2 else None


class _Semaphore(PTOOperation):
    """A pipe and an id, or (older) a core number that is ignored and an id."""

    placement = "outside"
    pipes: ClassVar[tuple[str, ...]] = SEMAPHORE_PIPES
    older: ClassVar[bool] = True
    """Whether there is a spelling with operands of type i64: a core number for the pipe, and the id."""
    alone: ClassVar[bool] = False
    """Whether an id without a pipe or core is enough."""
    pipe = OptionalProperty()
    core_id = OptionalOperand("i64")
    id = OptionalOperand("index|i32|i64")
    id_literal = OptionalProperty()

    @classmethod
    def ids(cls, target: str) -> int:
        """The number of ids."""
        return load_target(target).sync.semaphores

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        operands: dict[str, SSAValue] = {}
        properties: dict[str, Attribute] = {}
        if not cls.older or not parser.at(MLIRTokenKind.PERCENT_IDENT):
            properties["pipe"] = StringAttr(assembly_format.parse_word(parser, "pipe", PIPES))
            parser.parse_punctuation(",", " before the semaphore id")
            parse_number(parser, "id", operands, properties)
            return cls.parse_rest(parser, operands, properties)
        span = parser.span_here()
        first = parser.parse_value("core_id")
        if cls.alone and parser.parse_optional_punctuation(",") is None:
            parser.place("id", span)
            return cls.parse_rest(parser, {"id": first}, {})
        if not cls.alone:
            parser.parse_punctuation(",", " before the semaphore id")
        operands["core_id"] = first
        parse_number(parser, "id", operands, properties)
        return cls.parse_rest(parser, operands, properties)

    def print(self, printer: Printer) -> None:
        assembly_format.write(printer, " ")
        if self.core_id is not None:
            assembly_format.write(printer, self.core_id, ", ")
        elif self.pipe is not None:
            assembly_format.write(printer, f"<{self.word('pipe')}>, ")
        assembly_format.write(printer, self.id or str(self.integer("id_literal")))
        mode = self.attribute("ffts_mode")
        printer.print_op_attributes({**({"ffts_mode": mode} if mode is not None else {}), **self.attributes})
        if self.operands and self.pipe is None:
            assembly_format.write(printer, " : ", assembly_format.types_of(self.operands))

    def rules(self, target: str) -> Iterator[Problem]:
        pipe = self.word("pipe")
        if pipe is not None and pipe not in self.pipes:
            yield Problem(f"{self.name} takes {', '.join(self.pipes)}, not {pipe}", at="pipe", kind="wrong-pipe")
        if self.core_id is not None:
            message = "the first operand names no pipe and is ignored: the signal concerns all pipes of this core"
            yield lint(message, at="core_id", hint="write a pipe, such as <PIPE_V>")
        if self.id is None and self.id_literal is None:
            yield Problem(f"{self.name} needs a semaphore id")
        yield from has_id(self, "semaphore", self.ids(target))


class _SignalWithMode(_Semaphore):
    older = False
    modes: ClassVar[int] = 3
    ffts_mode = OptionalProperty()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from super().rules(target)
        if self.ffts_mode is None:
            return
        mode = self.integer("ffts_mode")
        if mode is None or not 0 <= mode < self.modes:
            legal = ", ".join(map(str, range(self.modes)))
            yield Problem(f"ffts_mode of {self.name} must be {legal}, not {self.ffts_mode}", at="ffts_mode")


class SyncSet(_SignalWithMode, name="pto.sync.set"):
    """Signal a semaphore of the cluster, when all earlier entries of the named pipe have completed.

    On a5 one set reaches one core: ids 0 to 15 on the cube core talk to AIV0, ids 16 to 31 to AIV1; a vector core
    uses 0 to 15. On a2a3 a set of the cube core reaches both vector cores, and ids are 0 to 15. A counter holds at most
    15. With `ffts_mode` 1 the two vector cores of a cluster meet, with 0 all cores of one kind across clusters: a wait
    is passed when each of them has set; 2 is the default.

        pto.sync.set <PIPE_FIX>, 17
    """


class SyncWait(_SignalWithMode, name="pto.sync.wait"):
    """Wait for a semaphore of the cluster and consume one signal.

    On a5 only the named pipe stalls, on PIPE_S the scalar unit; on a2a3 it always does, and a wait of the cube core
    needs a signal of both vector cores.

        pto.sync.wait <PIPE_MTE3>, 1
    """

    pipes = (*SEMAPHORE_PIPES, SCALAR_UNIT)


class _CrossBlock(_SignalWithMode):
    modes = 1

    @classmethod
    def ids(cls, target: str) -> int:
        return load_target(target).sync.vector_semaphores


class SetCrossBlock(_CrossBlock, name="pto.set_cross_block"):
    """Signal a semaphore that all clusters share.

    Ids 0 to 15; `ffts_mode`, if given, is 0.

        pto.set_cross_block <PIPE_MTE3>, 0
    """


class WaitCrossBlock(_CrossBlock, name="pto.wait_cross_block"):
    """Wait until every core that takes part has signalled a semaphore that all clusters share.

    Ids 0 to 15; `ffts_mode`, if given, is 0. On PIPE_S the scalar unit stalls.

        pto.wait_cross_block <PIPE_MTE2>, 0
    """

    pipes = (*SEMAPHORE_PIPES, SCALAR_UNIT)


class SetIntraBlock(_Semaphore, name="pto.set_intra_block"):
    """Signal one core of the cluster, when all earlier entries of the named pipe have completed.

    Seen from the cube core ids 0 to 15 reach AIV0 and 16 to 31 reach AIV1 (id + 16, not + 15); each vector core
    signals with 0 to 15. There is no broadcast: signalling both vector cores takes two sets. The spelling with two
    i64 operands names no pipe: it fires when all earlier work of the core is done. On a2a3 it is pto.sync.set, with ids
    0 to 15.

        pto.set_intra_block <PIPE_FIX>, 16
    """

    replaced_on = {"a2a3": "pto.sync.set"}


class WaitIntraBlock(_Semaphore, name="pto.wait_intra_block"):
    """Wait for a signal of another core of the cluster. Only the named pipe stalls.

    The cube core needs one wait for each vector core: id for AIV0, id + 16 for AIV1. With two i64 operands the whole
    core stalls. On a2a3 it is pto.sync.wait, which stalls the scalar unit.

        pto.wait_intra_block <PIPE_MTE3>, 1
    """

    replaced_on = {"a2a3": "pto.sync.wait"}


class SetIntraCore(SetIntraBlock, name="pto.set_intra_core"):
    """Another name of pto.set_intra_block.

    Only a5 has it.

        pto.set_intra_core <PIPE_FIX>, 16
    """

    replaced_by = "pto.set_intra_block"
    replaced_on = {}
    targets = ("a5",)


class WaitIntraCore(WaitIntraBlock, name="pto.wait_intra_core"):
    """Older name of pto.wait_intra_block.

    Only a5 has it, and only the named pipe stalls.

        pto.wait_intra_core <PIPE_MTE3>, 1
    """

    replaced_by = "pto.wait_intra_block"
    replaced_on = {}
    targets = ("a5",)


class SetCrossCore(_Semaphore, name="pto.set_cross_core"):
    """Signal the other cores of the cluster (a2a3).

    The cube core reaches both vector cores, a vector core the cube core. Ids 0 to 15. With two i64 operands it fires
    when all earlier work of the core is done.

        pto.set_cross_core <PIPE_MTE3>, 0
    """

    targets = ("a2a3",)
    pipes = (*SEMAPHORE_PIPES, "PIPE_M")


class WaitFlagDev(_Semaphore, name="pto.wait_flag_dev"):
    """Wait for a signal of another core of the cluster (a2a3).

    The scalar unit stalls, and with it everything not yet issued. On the cube core it takes a signal of both vector
    cores.

        pto.wait_flag_dev %id : i64
    """

    targets = ("a2a3",)
    pipes = (*SEMAPHORE_PIPES, "PIPE_M")
    alone = True


class WaitCrossCore(WaitFlagDev, name="pto.wait_cross_core"):
    """Another name of pto.wait_flag_dev.

    Only a2a3 has it, and the whole core stalls.

        pto.wait_cross_core %id : i64
    """

    replaced_by = "pto.wait_flag_dev"


SYNCALL_MODES = assembly_format.Vocabulary(("hard", "soft"))
CORE_TYPES = assembly_format.Vocabulary(
    ("aic_only", "aiv_only", "mix"),
    {"aic": "aic_only", "cube": "aic_only", "aiv": "aiv_only", "vector": "aiv_only", "all": "mix"},
)

WORKSPACE_ELEMENTS = 16
"""The words of GM that each core needs for the soft barrier."""


class SyncAll(PTOOperation, name="pto.syncall"):
    """Barrier over all blocks.

    `core_type` says which kinds of core take part: aic_only, aiv_only or mix. The soft mode needs a GM workspace of at
    least 16 i32 for each core, and may say how many cores take part; the hard mode has no operands. It waits for the
    arrival of the others and for nothing else: pto.barrier <PIPE_ALL> before it drains the pipes.

        pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aiv_only>
    """

    placement = "outside"
    words = {"mode": SYNCALL_MODES, "core_type": CORE_TYPES}
    workspace = OptionalOperand()
    used = OptionalOperand("i32")
    mode = Property()
    core_type = Property()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        operands: dict[str, SSAValue] = {}
        parser.parse_punctuation("(")
        if parser.at(MLIRTokenKind.PERCENT_IDENT):
            operands["workspace"] = parser.parse_value("workspace")
            if parser.parse_optional_punctuation(",") is not None:
                operands["used"] = parser.parse_value("used")
            if parser.parse_optional_punctuation(":") is not None:
                if parser.at_word("memref"):
                    parser.report("the workspace of pto.syncall is a !pto.ptr, not a memref", parser.span_here())
                assembly_format.compare_types(parser, assembly_format.parse_types(parser), list(operands.items()))
        parser.parse_punctuation(")")
        mode = cls._parse_clause(parser, "mode", SYNCALL_MODES)
        parser.parse_punctuation(",")
        core_type = cls._parse_clause(parser, "core_type", CORE_TYPES)
        return cls.parse_rest(parser, operands, {"mode": mode, "core_type": core_type})

    @classmethod
    def _parse_clause(cls, parser: LocatedParser, name: str, vocabulary: assembly_format.Vocabulary) -> StringAttr:
        parser.parse_keyword(name)
        parser.parse_punctuation("=")
        return StringAttr(assembly_format.parse_word(parser, name, vocabulary))

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        if self.operands:
            assembly_format.write(printer, self.operands, " : ", assembly_format.types_of(self.operands))
        mode, core_type = self.word("mode"), self.word("core_type")
        printer.print_string(f") mode = #pto.sync_all_mode<{mode}>, core_type = #pto.sync_core_type<{core_type}>")
        printer.print_op_attributes(self.attributes)

    def rules(self, target: str) -> Iterator[Problem]:
        if self.word("mode") == "hard":
            if self.operands:
                yield Problem("hard pto.syncall has no operands", at="workspace", hint="a workspace is for mode soft")
        elif self.workspace is None:
            yield Problem("soft pto.syncall needs a workspace in GM", at="mode")
        else:
            yield from in_gm(self, "workspace")
            yield from self._workspace(self.workspace.type)

    def _workspace(self, type_: Attribute) -> Iterator[Problem]:
        """It holds i32, as many as each core needs where that is known."""
        view = view_of(type_)
        element = view.element if view is not None else type_.element if isinstance(type_, PtrType) else i32
        if element != i32:
            yield Problem(f"workspace must point to i32, not {element}", at="workspace")
        size = count(view.shape) if view is not None else None
        if size is not None and size < WORKSPACE_ELEMENTS:
            message = f"workspace has {size} elements; soft pto.syncall needs at least {WORKSPACE_ELEMENTS}"
            yield Problem(message, at="workspace")


class SetFfts(PTOOperation, name="pto.set_ffts"):
    """Give the base address of the signals between cores.

    The hardware of a2a3 wants it before the first signal; it has no effect on what a kernel computes.

        pto.set_ffts %p : !pto.ptr<i64, gm>
    """

    placement = "outside"
    form = "$address:gm"
