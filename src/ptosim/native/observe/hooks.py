"""Hooks at which the observer of a kernel adds code. Each method is called once for a place in the kernel, while the
code of that place is built; the added code runs whenever the place is reached.

The state that this code keeps lies behind `Word.OBSERVED` of the context: `state_bytes` of memory per core, zero when
a kernel is linked and kept from block to block and from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from ptosim.effects.names import Pipe, Space
from ptosim.effects.sync import ALL_WRITES, FenceReach
from ptosim.native.ir.values import Value
from ptosim.native.observe import Observe

if TYPE_CHECKING:
    from ptosim.language.structure.function import Function
    from ptosim.native.build.core import Core, FlagStep
    from ptosim.native.build.program import FunctionBody
    from ptosim.native.build.sharing import SharedEntry
    from ptosim.native.build.state import Align
    from ptosim.native.ir.flow import FunctionBuilder
    from ptosim.native.workitems.warp_body import WarpBody
    from ptosim.native.workitems.warp_core import WarpCore

Number = int | Value
Range = tuple[Space, Value, Value]
"""Bytes: a memory, the first, and how many."""
Step = tuple[Value, Value]
"""Count, and bytes from one to the next."""


@dataclass(frozen=True, eq=False)
class OnChipAccess:
    """Bytes of an on-chip memory that an instruction "reads" or "writes": all of them, or those units of so many bytes
    that are active."""

    verb: str
    space: Space
    address: Value
    extent: int
    alignment: int
    active: Callable[[], Value] | None = None
    unit: int = 1


@dataclass(frozen=True, eq=False)
class CopyRows:
    """One side of a copy: so many bytes at every combination of steps, the innermost first; `at` names the owner of the
    UB, if that is another core."""

    space: Space
    base: Value
    steps: Sequence[Step]
    length: Value
    at: str | None = None


class FlagHooks:
    """Flags, buffers, barriers and fences of a core that happen inline. This adds nothing."""

    def flag(self, step: FlagStep, word: Value, number: Number) -> None:
        """A set or wait, with the address and the number of its sync word, before that changes."""

    def got_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        """A get_buf, before the word of its bracket changes."""

    def released_buffer(self, core: Core, pipe: Pipe, buffer: Number, mode: Number) -> None:
        """A rls_buf, before the word of its bracket changes."""

    def barrier(self, core: Core, pipe: Pipe, reach: FenceReach = ALL_WRITES) -> None:
        """A barrier of one pipe, or of all, with the stores of the scalar unit that it reaches."""

    def fence(self, core: Core) -> None:
        """A dsb, or another fence of the scalar unit."""


class CounterHooks:
    """Signals between the cores of a cluster that happen inline. This adds nothing."""

    def set(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        """A signal, before the words of its counters change; their numbers."""

    def heard(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        """A wait that is satisfied, before the words of its counters change."""

    def waited(self, core: Core, pipe: Pipe, counters: Sequence[Number]) -> None:
        """A wait that is over, inline or by the scheduler, which may have passed the turn meanwhile."""

    def set_meeting(self, core: Core, pipe: Pipe, number: Number) -> None:
        """A set of a meeting of both vector cores, which the scheduler has noted."""

    def waited_meeting(self, core: Core, pipe: Pipe, number: Number) -> None:
        """A wait for one that is over."""


class WorkitemHooks:
    """Launches of workitems and the code of their warps. This adds nothing."""

    follows = False
    """Whether doubtful values of workitems are followed."""

    def launches(self, core: Core, function: Function) -> None:
        """Before the first warp."""

    def launched(self, core: Core, function: Function) -> None:
        """After the last one."""

    def begins(self, warp: WarpBody, function: Function) -> None:
        """In the code of a warp, before its first operation."""

    def meets(self, warp: WarpBody, site: int) -> None:
        """Before a warp waits at a barrier, the number of which is that of its site."""

    def goes_on(self, warp: WarpBody) -> None:
        """Behind a barrier."""

    def instruction_begins(self, warp: WarpBody, op: Operation) -> None:
        """Before the code of an instruction."""

    def instruction_ends(self, warp: WarpBody, op: Operation) -> None:
        """After it."""

    def decides(self, warp: WarpBody, value: SSAValue) -> None:
        """A value decides a branch, or how often a loop goes round."""

    def crosses(self, warp: WarpBody, values: Sequence[SSAValue]) -> None:
        """Before these values cross a join, behind which the code knows them under other names."""

    def renamed(self, values: Sequence[SSAValue], names: Sequence[SSAValue]) -> None:
        """These values are known under other names from here on, in the same code."""

    def row(self, core: WarpCore, verb: str, space: Space, first: Value, width: int, is_single: bool) -> list[Value]:
        """Elements of so many bytes, one behind the other for each lane, or a single one for all, before the active
        ones are read or written. Gives the doubtful lanes, where they are followed."""
        return []

    def lanes(
        self, core: WarpCore, verb: str, space: Space, addresses: Value, width: int, update: str = ""
    ) -> list[Value]:
        """Likewise, one at an address for each lane, which lie in their memory; `update`: how they are changed."""
        return []

    def loaded(self, doubtful: Sequence[Value]) -> None:
        """The doubtful lanes that the instruction gets from memory, or from elsewhere."""

    def shuffled(self, warp: WarpBody, lanes: Value, awake: Value) -> None:
        """The lanes that a shuffle takes values from, and whether those take part."""


class CodeObserver:
    """One that adds nothing. Override what you need."""

    purpose: Observe = "none"
    flags = FlagHooks()
    counters = CounterHooks()
    workitems = WorkitemHooks()
    state_bytes = 0
    """To be known when the whole kernel is built."""

    def facts(self) -> dict[str, Any]:
        """Further facts for the run time when all is built; data that JSON can hold."""
        return {}

    # --- the scalar program of a core ---------------------------------------------------------------------------------

    def program_begins(self, core: Core) -> None:
        """Before the first instruction of a block."""

    def program_ends(self, core: Core) -> None:
        """After the last one."""

    def operation_begins(self, body: FunctionBody, op: Operation) -> None:
        """Before anything is built for an operation, structured ones and those of entries included."""

    def loop(self, body: FunctionBody, op: Operation, lower: Value, upper: Value, step: Value) -> None:
        """Before a counted loop."""

    def branch(self, body: FunctionBody, op: Operation, condition: Value) -> None:
        """Before an scf.if."""

    def rounds_begin(self, body: FunctionBody, op: Operation) -> Value | None:
        """Before an scf.while: what it hands to the hooks below."""
        return None

    def round(self, body: FunctionBody, kept: Value | None) -> None:
        """At the begin of each round."""

    def rounds_end(self, body: FunctionBody, kept: Value | None) -> None:
        """After the last one."""

    def entry_called(self, core: Core, entry: SharedEntry, words: Value) -> Value | None:
        """In the scalar program, after an entry that was called at once has done its work; its words are in memory. The
        status with which the run goes on, if not DONE."""
        return None

    # --- entries of pipes ---------------------------------------------------------------------------------------------

    def entry_begins(self, core: Core, op: Operation) -> None:
        """In the function of an entry, before its first instruction."""

    def entry_ends(self, core: Core, op: Operation) -> None:
        """In the function of an entry, after its last instruction."""

    # --- single instructions, of the scalar unit and of entries -------------------------------------------------------

    def instruction_begins(self, body: FunctionBody, op: Operation) -> None:
        """Before the code of an instruction; the values of its operands are known to the body."""

    def instruction_ends(self, body: FunctionBody, op: Operation) -> None:
        """After the code of an instruction; its results are known, too."""

    def crosses(self, body: FunctionBody, values: Iterable[SSAValue]) -> None:
        """Before these values cross a join or a call, where the code knows them under other names."""

    def renamed(self, values: Sequence[SSAValue], names: Sequence[SSAValue]) -> None:
        """These values are known under other names from here on, in the same code."""

    def is_unfolded(self, f: FunctionBuilder) -> bool:
        """Whether the scope that this code belongs to has the code of functions in place of their calls."""
        return False

    def scope_of(self, f: FunctionBuilder) -> object:
        """The context of a function that a scope calls, besides its arguments."""
        return None

    def helper_begins(self, caller: FunctionBuilder, f: FunctionBuilder, arguments: Sequence[SSAValue]) -> None:
        """In the function of a callee, before its first instruction."""

    # --- memory -------------------------------------------------------------------------------------------------------

    def accessed(self, core: Core, access: OnChipAccess) -> None:
        """Before it happens."""

    def scattered(self, core: Core, verb: str, starts: Value, active: Value, extent: int, units: Value | None) -> None:
        """The bytes of UB at several addresses, as many at each, of which some are active, before they are read or
        written; an address is a multiple of that number, or of a block. `units`: the parts of these bytes, if not all.
        """

    def stretched(
        self, core: Core, verb: str, space: Space, address: Value, extent: Value, at: str | None = None
    ) -> None:
        """The bytes from the first to the last of an instruction that is no access of a register, before it begins, in
        GM as well; `at` names the owner of the UB, if that is another core."""

    def copied(self, core: Core, verb: str, rows: CopyRows, ctrl: Value | None = None) -> None:
        """Rows of a copy, before they are read or written; `ctrl` says whether and how they are combined with what is
        there."""

    def carried(self, core: Core, source: CopyRows, dest: CopyRows) -> None:
        """Rows of whole granules, before they are copied as they are from one on-chip memory to another; the steps of
        both sides belong together."""

    def turned(self, core: Core, source: CopyRows, dest: CopyRows, width: int) -> None:
        """Fractals, before the matrix that they form is copied transposed, with elements of so many bytes: so many one
        behind the other, and so many of these columns, on either side."""

    def streamed(self, core: Core, low: Value, high: Value, taken: Value) -> None:
        """Bytes of UB that a store stream is about to write, of less than a block or up to the end of one, eight blocks
        at most; so many were taken from the register that the instruction stores."""

    def held_back(self, core: Core, before: Align, after: Align | None) -> None:
        """The state of a store stream becomes another one, or the stream ends."""

    def chosen(self, core: Core, number: Value, apart: bool) -> None:
        """A row of a table, an unsigned number of 32 bits, that an index of an entry names; `apart`: and no other."""

    def merged(self, core: Core, records: Value) -> None:
        """Counts merged records."""

    def suspect(self, f: FunctionBuilder, doubtful: Value) -> None:
        """The instruction may deserve a remark if this condition holds."""

    def awaited(self, core: Core, ranges: Sequence[Range]) -> None:
        """A wait for what touches these bytes."""


UNOBSERVED = CodeObserver()
"""For kernels that are not watched."""
