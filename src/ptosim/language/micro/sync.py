"""Synchronisation between the pipes of a core: flags, barriers, buffer ids.

Signals between cores are in sync_semaphore.py, fences between memory accesses in sync_fence.py. Whether a kernel
orders what it must is for the sanitizer to say; here is only what a single instruction may look like.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Self

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ptosim.effects.names import PIPES_OF, SERIAL_PIPES, Pipe
from ptosim.effects.sync import no_such_id
from ptosim.language import operation
from ptosim.language.rules.operand_rules import bounds, constants
from ptosim.language.text.assembly_format import Vocabulary, parse_word, write
from ptosim.language.text.located_parser import LocatedParser
from ptosim.target import load_target

# --- words ------------------------------------------------------------------------------------------------------------

_OPERATION_CLASSES = (
    ("TLOAD", "EVENT_LOAD_FROM_GM", "PIPE_MTE2"),
    ("TSTORE_VEC", "EVENT_STORE_FROM_VEC", "PIPE_MTE3"),
    ("TSTORE_ACC", "EVENT_STORE_FROM_ACC", "PIPE_FIX"),
    ("TMOV_M2L", "EVENT_MOVE_MAT_TO_LEFT", "PIPE_MTE1"),
    ("TMOV_M2B", "EVENT_MOVE_MAT_TO_BIAS", "PIPE_MTE1"),
    ("TMOV_M2S", "EVENT_MOVE_MAT_TO_SCALAR", "PIPE_FIX"),
    ("TMOV_M2V", "EVENT_MOVE_MAT_TO_VEC", "PIPE_V"),
    ("TMOV_V2M", "EVENT_MOVE_VEC_TO_MAT", "PIPE_FIX"),
    ("TMATMUL", "EVENT_COMPUTE_MATMUL", "PIPE_M"),
    ("TVEC", "EVENT_COMPUTE_VEC", "PIPE_V"),
    ("TVECWAIT_EVENT", "EVENT_VEC_WAITPOINT", "PIPE_V"),
)
"""The high-level operation classes, in the words of the manual as well, and the pipe that each runs on."""

EVENT_TYPES = tuple(name for name, _, _ in _OPERATION_CLASSES)
EVENT_PIPES = {name: pipe for *names, pipe in _OPERATION_CLASSES for name in names}
"""The pipe of an operation class, in either spelling."""

_REAL_PIPES = tuple(f"PIPE_{pipe}" for pipe in Pipe if pipe is not Pipe.ALL)
_ABSENT_PIPES = (
    *("PIPE_MTE4", "PIPE_MTE5", "PIPE_V2", "PIPE_NUM", "PIPE_UNASSIGNED"),
    *("VIRTUAL_PIPE_MTE2_L1A", "VIRTUAL_PIPE_MTE2_L1B"),
)
EVENT_IDS = 8
"""The event ids of every pair of pipes on the known machines; a target file may say otherwise, up to 16."""

PIPES = Vocabulary(_REAL_PIPES, bare="PIPE_ALL", illegal=("PIPE_ALL", *_ABSENT_PIPES))
PIPES_OR_EVENT_TYPES = Vocabulary(_REAL_PIPES, EVENT_PIPES, illegal=("PIPE_ALL", *_ABSENT_PIPES), also=EVENT_TYPES)
BARRIER_PIPES = Vocabulary((*_REAL_PIPES, "PIPE_ALL"), bare="PIPE_ALL", printed="#pto.pipe<{}>", illegal=_ABSENT_PIPES)
BARRIER_EVENT_TYPES = Vocabulary((*_REAL_PIPES, "PIPE_ALL"), EVENT_PIPES, illegal=_ABSENT_PIPES, also=EVENT_TYPES)
EVENTS = Vocabulary(
    tuple(f"EVENT_ID{id_}" for id_ in range(EVENT_IDS)), illegal=tuple(f"EVENT_ID{id_}" for id_ in range(EVENT_IDS, 64))
)

# --- pipes and cores --------------------------------------------------------------------------------------------------


def pipe_of(op: operation.PTOOperation, role: str) -> Pipe | None:
    """The pipe that a word names, or None where the machine has no such pipe."""
    word = op.word(role) or ""
    return Pipe(word.removeprefix("PIPE_")) if word in BARRIER_PIPES.words else None


def concrete_pipe(op: operation.PTOOperation, *roles: str) -> Iterator[operation.Problem]:
    """The words name pipes that the machine has, and not all of them at once."""
    for role in roles:
        if pipe_of(op, role) in (None, Pipe.ALL):
            known = ", ".join(PIPES.words)
            yield operation.Problem(
                f"{op.name} needs one pipe, not {op.word(role)}; known: {known}", at=role, kind="wrong-pipe"
            )


def present_pipe(op: operation.PTOOperation, role: str) -> Iterator[operation.Problem]:
    """The pipe is one that the core of this operation has."""
    pipe, core = pipe_of(op, role), operation.core_of(op)
    if pipe in (None, Pipe.ALL) or core is None or pipe in PIPES_OF[core]:
        return
    pipes = ", ".join(PIPES_OF[core])
    yield operation.Problem(f"the {core} core has no pipe {pipe}; it has {pipes}", at=role, kind="wrong-pipe")


# --- flags ------------------------------------------------------------------------------------------------------------


class FlagPair(operation.PTOOperation):
    """The names in every flag: the pipe that sets and the pipe that waits."""

    placement = "outside"
    typed = False
    between_classes: ClassVar[bool] = False
    """Whether its ends are classes of operations, which may share a pipe."""

    def rules(self, target: str) -> Iterator[operation.Problem]:
        broken = list(concrete_pipe(self, "source", "destination"))
        yield from broken
        if broken:
            return
        if self.word("source") == self.word("destination"):
            message = f"{self.name} joins {self.word('source')} with itself"
            hint = "entries of one pipe are ordered by pto.barrier"
            if self.between_classes and target != "a2a3" and pipe_of(self, "source") in SERIAL_PIPES:
                hint = "no event is needed: entries of this pipe end one after the other"
            kind = "invalid" if self.between_classes else "wrong-pipe"
            yield operation.Problem(message, "destination", kind, hint=hint)
        elif not self._between_cores():
            yield from present_pipe(self, "source")
            yield from present_pipe(self, "destination")

    def _between_cores(self) -> bool:
        """Whether no core has both pipes: such a flag stands for an event between cores and is judged when run."""
        pair = {pipe_of(self, "source"), pipe_of(self, "destination")}
        return not any(pair <= set(pipes) for pipes in PIPES_OF.values())


class _Flag(FlagPair):
    form = "[@source, @destination, @event]"
    words = {"source": PIPES, "destination": PIPES, "event": EVENTS}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        word, ids = self.word("event") or "", load_target(target).sync.event_ids
        if word not in EVENTS.words[:ids] and word not in EVENTS.illegal[: max(0, ids - EVENT_IDS)]:
            legal = ", ".join((*EVENTS.words, *EVENTS.illegal)[:ids])
            yield operation.Problem(f"{self.word('event')} does not exist; known: {legal}", at="event", kind="id-range")


class SetFlag(_Flag, name="pto.set_flag"):
    """Signal an event from a source pipe to a destination pipe.

    An entry of the source pipe: it fires when everything issued to that pipe before it has completed; entries behind
    it may start earlier. The key is the ordered triple (source, destination, id), ids EVENT_ID0 to EVENT_ID7 for each
    ordered pair. Setting a key again before it was waited for is a double set.

        pto.set_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    """


class WaitFlag(_Flag, name="pto.wait_flag"):
    """Hold the destination pipe until the source pipe has signalled the event, and consume the signal.

    Operands are in the order of pto.set_flag: source, destination, id. One wait takes exactly one set, so a wait in a
    loop needs a set per iteration. Pipes other than the destination go on; with PIPE_S as the destination the scalar
    unit itself stops.

        pto.wait_flag["PIPE_MTE2", "PIPE_V", "EVENT_ID0"]
    """


class _Event(_Flag):
    between_classes = True
    words = {"source": PIPES_OR_EVENT_TYPES, "destination": PIPES_OR_EVENT_TYPES, "event": EVENTS}


class RecordEvent(_Event, name="pto.record_event"):
    """Older name of pto.set_flag, between operation classes instead of pipes.

    TLOAD stands for PIPE_MTE2, TVEC for PIPE_V, TSTORE_VEC for PIPE_MTE3, TMATMUL for PIPE_M, and so on.

        pto.record_event[#pto.pipe_event_type<TLOAD>, #pto.pipe_event_type<TVEC>, #pto.event<EVENT_ID0>]
    """

    replaced_by = "pto.set_flag"


class WaitEvent(_Event, name="pto.wait_event"):
    """Older name of pto.wait_flag, between operation classes instead of pipes.

    The classes stand for the pipes that pto.record_event lists.

        pto.wait_event[<TLOAD>, <TVEC>, <EVENT_ID0>]
    """

    replaced_by = "pto.wait_flag"


class _DynamicFlag(FlagPair):
    form = "[@source, @destination, $event:index]"
    words = {"source": PIPES, "destination": PIPES}
    event = operation.Operand()

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        ids = load_target(target).sync.event_ids
        for place, known in constants(self, "event"):
            if not 0 <= known < ids:
                yield operation.Problem(no_such_id("event", known, ids), at=place, kind="id-range")


class SetFlagDyn(_DynamicFlag, name="pto.set_flag_dyn"):
    """Signal an event whose id is computed.

    As pto.set_flag; the id must be 0 to 7 when it runs.

        pto.set_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
    """


class WaitFlagDyn(_DynamicFlag, name="pto.wait_flag_dyn"):
    """Wait for an event whose id is computed.

    As pto.wait_flag; the id must be 0 to 7 when it runs.

        pto.wait_flag_dyn["PIPE_MTE2", "PIPE_V", %id]
    """


# --- barriers ---------------------------------------------------------------------------------------------------------


class Barrier(operation.PTOOperation, name="pto.barrier"):
    """Later entries of a pipe start only when all earlier entries of that pipe have completed.

    Needed where two copies of MTE2 or of MTE3 touch the same bytes: they start in order but may overlap. Other pipes
    are not held. PIPE_ALL drains every pipe of this core and stops the scalar unit until then; kernels end with it.
    It does not wait for other cores.

        pto.barrier #pto.pipe<PIPE_ALL>
    """

    form = "@pipe"
    words = {"pipe": BARRIER_PIPES}
    placement = "outside"

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if pipe_of(self, "pipe") is None:
            known = ", ".join(BARRIER_PIPES.words)
            yield operation.Problem(
                f"{self.name} cannot drain {self.word('pipe')}; known: {known}", "pipe", "wrong-pipe"
            )
        yield from present_pipe(self, "pipe")


class PipeBarrier(Barrier, name="pto.pipe_barrier"):
    """Older name of pto.barrier.

    The pipe is usually written as a string.

        pto.pipe_barrier "PIPE_MTE3"
    """

    replaced_by = "pto.barrier"


class BarrierSync(Barrier, name="pto.barrier_sync"):
    """Older name of pto.barrier, by operation class instead of pipe.

    TVEC stands for PIPE_V, TLOAD for PIPE_MTE2, and so on. On a5 a barrier of a serial pipe, such as V, has no effect
    and is remarked.

        pto.barrier_sync[<TLOAD>]
    """

    form = "[@pipe]"
    replaced_by = "pto.barrier"
    words = {"pipe": BARRIER_EVENT_TYPES}

    def rules(self, target: str) -> Iterator[operation.Problem]:
        yield from super().rules(target)
        pipe = pipe_of(self, "pipe")
        if target == "a5" and pipe in SERIAL_PIPES:
            message = f"{pipe} is serial on {target}: a barrier of it has no effect"
            yield operation.lint(message, at="pipe", hint="delete this line")


# --- buffer ids -------------------------------------------------------------------------------------------------------


def parse_number(
    parser: LocatedParser, role: str, operands: dict[str, SSAValue], properties: dict[str, Attribute]
) -> None:
    """A number that is written: as a literal, which becomes a property, or as an operand."""
    span = parser.span_here()
    literal = parser.parse_optional_integer(allow_boolean=False)
    if literal is None:
        operands[role] = parser.parse_value(role)
    else:
        parser.place(role, span)
        properties[f"{role}_literal"] = IntegerAttr(literal, i64)


class BufferOperation(operation.PTOOperation):
    """A pipe, a buffer id and a mode; id and mode are literals or operands."""

    placement = "outside"
    warned_targets = ("a2a3",)
    words = {"pipe": PIPES_OR_EVENT_TYPES}
    pipe = operation.Property()
    id = operation.OptionalOperand("index|i64")
    id_literal = operation.OptionalProperty()
    mode = operation.OptionalOperand("i64")
    mode_literal = operation.OptionalProperty()

    @classmethod
    def read(cls, parser: LocatedParser) -> Self:
        operands: dict[str, SSAValue] = {}
        properties: dict[str, Attribute] = {}
        bracket = parser.parse_optional_punctuation("[") is not None
        if parser.at(MLIRTokenKind.PERCENT_IDENT):
            operands["id"] = parser.parse_value("id")
            parser.parse_punctuation(",")
            properties["pipe"] = StringAttr(parse_word(parser, "pipe", cls.words["pipe"]))
        else:
            properties["pipe"] = StringAttr(parse_word(parser, "pipe", cls.words["pipe"]))
            bracket = cls._close(parser, bracket)
            parser.parse_punctuation(",")
            parse_number(parser, "id", operands, properties)
        if parser.parse_optional_punctuation(",") is not None:
            parse_number(parser, "mode", operands, properties)
        if bracket:
            parser.parse_punctuation("]")
        return cls.parse_rest(parser, operands, properties)

    @classmethod
    def _close(cls, parser: LocatedParser, bracket: bool) -> bool:
        """A bracket may enclose all, or only the pipe; true while it is still open."""
        return bracket and parser.parse_optional_punctuation("]") is None

    def print(self, printer: Printer) -> None:
        printer.print_string(f' "{self.word("pipe")}"')
        values = [self._print_number(printer, role) for role in ("id", "mode")]
        printer.print_op_attributes(self.attributes)
        if types := [value.type for value in values if value is not None]:
            write(printer, " : ", types)

    def _print_number(self, printer: Printer, role: str) -> SSAValue | None:
        value: SSAValue | None = getattr(self, role)
        if value is not None:
            write(printer, ", ", value)
        elif (literal := self.integer(f"{role}_literal")) is not None:
            printer.print_string(f", {literal}")
        return value

    def rules(self, target: str) -> Iterator[operation.Problem]:
        if target in self.warned_targets:
            yield operation.Problem(f"{self.name} exists on a5 only", kind="wrong-target", severity="warning")
        broken = list(concrete_pipe(self, "pipe"))
        yield from broken or present_pipe(self, "pipe")
        if self.id is None and self.id_literal is None:
            yield operation.Problem(f"{self.name} needs a buffer id")
        yield from has_id(self, "buffer", load_target(target).sync.buffer_ids)
        yield from _is_number(self, "mode")
        for known in _known(self, "mode"):
            if known < 0:
                yield operation.Problem(f"mode is {known}; it must be {bounds(0, None)}", at="mode")


def has_id(op: operation.PTOOperation, thing: str, ids: int) -> Iterator[operation.Problem]:
    """An id that is a literal or an operand, as far as it is known, is one of so many."""
    yield from _is_number(op, "id")
    for known in _known(op, "id"):
        if not 0 <= known < ids:
            yield operation.Problem(no_such_id(thing, known, ids), at="id", kind="id-range")


def _is_number(op: operation.PTOOperation, role: str) -> Iterator[operation.Problem]:
    literal = op.attribute(f"{role}_literal")
    if literal is not None and op.integer(f"{role}_literal") is None:
        yield operation.Problem(f"{role} must be an integer, not {literal}", at=role)


def _known(op: operation.PTOOperation, role: str) -> list[int]:
    number = op.integer(f"{role}_literal")
    return [value for _, value in constants(op, role)] if number is None else [number]


class GetBuf(BufferOperation, name="pto.get_buf"):
    """Acquire a buffer id for a pipe, which waits for earlier releases of that id.

    Only releases on other pipes are waited for. 32 ids (0 to 31) are shared by all pipes of a core and start free, so
    that a loop needs neither priming nor draining. Mode 0, the default, blocks; mode 1 never does. Each get needs its
    rls on the same pipe with the same mode, and brackets of one id must not interleave.

        pto.get_buf "PIPE_MTE2", 0, 0
    """


class RlsBuf(BufferOperation, name="pto.rls_buf"):
    """Release a buffer id: it happens when all earlier entries of the pipe have completed.

    In mode 1 it waits for the earlier instructions of every pipe that are bracketed by the id.

        pto.rls_buf "PIPE_MTE2", 0, 0
    """


class GetBufDyn(BufferOperation, name="pto.get_buf_dyn"):
    """Older name of pto.get_buf with a computed id.

    The id must be 0 to 31 when it runs.

        pto.get_buf_dyn "PIPE_MTE2", %id, 0 : index
    """

    replaced_by = "pto.get_buf"


class RlsBufDyn(BufferOperation, name="pto.rls_buf_dyn"):
    """Older name of pto.rls_buf with a computed id.

    The id must be 0 to 31 when it runs.

        pto.rls_buf_dyn "PIPE_MTE2", %id, 0 : index
    """

    replaced_by = "pto.rls_buf"
