"""A warp that waits at barriers is a coroutine: LLVM finds out what lives across a wait, and keeps it in a frame.

Each warp has a record: its frame, its state, the barrier where it waits, the lanes that have come there, and those that
exist. The scheduler of warps resumes those that can go on in ascending order, round by round.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptosim.effects.simt import HANDOVER, WARP
from ptosim.native.ir.context import WORD_BYTES, ContextWord, Status
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.module import ObjectModule
from ptosim.native.ir.values import I64, PTR, Type, Value

RECORD = 64
"""Bytes of the record of a warp."""
STATE, SITE, ARRIVED, EXISTING = 8, 16, 24, 32
"""The words of a frame; its address is the first."""
GOES_ON, WAITS, PARTLY, OVER = 0, 1, 2, 3
"""States; behind the last the statuses with which code leaves."""
DEADLOCK = 3
"""The result of the scheduler of warps besides a `Status`,"""
GIVES_TURN = 4
"""and where all warps had their turn, some go on, and it is told to give other cores one (`gives`); called once more
then (`goeson`)."""


class WarpCoroutine(FunctionBuilder):
    """The code of one warp; its first parameter is the record."""

    def __init__(self, module: ObjectModule, name: str, parameters: Sequence[Type], may_wait: bool) -> None:
        super().__init__(module, name, (PTR, *parameters), (), "internal")
        self.record = self.parameters[0]
        self.may_wait = may_wait
        """Whether loops may look at memory until others have written it."""
        self._left: Value | None = None
        module.functions.append(self)

    def wait(self, site: int, lanes: tuple[Value, Value] | None) -> None:
        """At a barrier: with the lanes that have come, and those that exist."""
        self.record.at(SITE).store(self.constant(I64, site), 8)
        if lanes is None:
            self.suspend(self.constant(I64, WAITS))
        else:
            arrived, existing = lanes
            self.record.at(ARRIVED).store(arrived.zext(I64), 8)
            self.suspend((arrived == existing).select(self.constant(I64, WAITS), PARTLY))
        self.left.store(self.constant(I64, HANDOVER))

    def suspend(self, state: Value) -> None:
        """Let others go on."""
        self.settle()
        self.record.at(STATE).store(state, 8)
        resumed, state_text = self._fresh("resumed"), self._fresh("%s")
        self.do(f"{state_text} = call i8 @llvm.coro.suspend(token none, i1 false)")
        self.do(f"switch i8 {state_text}, label %suspended [i8 0, label %{resumed} i8 1, label %cleanup]")
        self._start(resumed)
        if self.may_wait:
            self.change()

    def change(self) -> None:
        """Count what a later round of a loop may notice."""
        word = self.word(ContextWord.SIMT_CHANGES)
        word.store(word.load(I64, WORD_BYTES) + 1, WORD_BYTES)

    def begins(self) -> None:
        """Wait to be resumed for the first time."""
        self.suspend(self.constant(I64, GOES_ON))

    @property
    def left(self) -> Value:
        """The place of the number of rounds after which others get a turn."""
        if self._left is None:
            self._left = self.set_slot(I64, HANDOVER)
        return self._left

    def round(self) -> None:
        """A loop goes round: after many rounds others get a turn."""
        left = self.left
        number = left.load(I64) - 1
        left.store((number == 0).select(number.like(HANDOVER), number))
        with self.when(number == 0):
            self.suspend(self.constant(I64, GOES_ON))

    def look(self) -> tuple[Value, Value]:
        """A round begins of a loop that looks at memory: what it has found."""
        return self.word(ContextWord.SIMT_CHANGES).load(I64, WORD_BYTES), self.left.load(I64)

    def rest(self, found: tuple[Value, Value], same: Value, site: int) -> None:
        """And ends: where it has changed nothing, and carries the same values, all rounds of its turn are like it."""
        changes, left = found
        now, still = self.word(ContextWord.SIMT_CHANGES).load(I64, WORD_BYTES), self.left.load(I64)
        with self.when(same & (now == changes) & (still == left - 1)):
            self.count_steps(still - 1, site)
            self.settle()
            self.left.store(still.like(1))

    def _return(self, status: Value, results: Sequence[Value] | None = None) -> None:
        self.record.at(STATE).store(status.zext(I64) + OVER, 8)
        self.do("br label %final")

    def definition(self) -> str:
        parameters = ", ".join(["ptr noalias %context", *map(str, self.parameters)])
        head = f"define internal ptr @{self.name}({parameters}) presplitcoroutine nounwind noinline {{"
        return "\n".join([head, _BEGIN, *self._slots, *self._lines, _END])


_BEGIN = """entry:
  %id = call token @llvm.coro.id(i32 64, ptr null, ptr null, ptr null)
  %size0 = call i64 @llvm.coro.size.i64()
  %size1 = add i64 %size0, 63
  %size = and i64 %size1, -64
  %frame = call ptr @aligned_alloc(i64 64, i64 %size)
  %handle = call ptr @llvm.coro.begin(token %id, ptr %frame)"""
_END = """final:
  %over = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %over, label %suspended [i8 1, label %cleanup]
cleanup:
  %kept = call ptr @llvm.coro.free(token %id, ptr %handle)
  call void @free(ptr %kept)
  br label %suspended
suspended:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}
"""

SCHEDULER = "run_warps"
_SCHEDULER = f"""declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)
define internal i32 @{SCHEDULER}(ptr %records, i64 %count, i1 %gives, i1 %goeson) nounwind noinline {{
entry:
  br i1 %goeson, label %pass, label %round
round:
  br label %swift
swift:
  %q = phi i64 [ 0, %round ], [ %q1, %swiftly ]
  %met0 = phi i1 [ true, %round ], [ %met1, %swiftly ]
  %qfar = mul i64 %q, {RECORD}
  %qrecord = getelementptr i8, ptr %records, i64 %qfar
  %qhandle = load ptr, ptr %qrecord
  call void @llvm.coro.resume(ptr %qhandle)
  %qat = getelementptr i8, ptr %qrecord, i64 {STATE}
  %qstate = load i64, ptr %qat
  %qfailed = icmp ugt i64 %qstate, {OVER}
  br i1 %qfailed, label %fails, label %swiftly
swiftly:
  %qmet = icmp eq i64 %qstate, {WAITS}
  %met1 = and i1 %met0, %qmet
  %q1 = add i64 %q, 1
  %qmore = icmp ult i64 %q1, %count
  br i1 %qmore, label %swift, label %swiftend
swiftend:
  br i1 %met1, label %round, label %judge
pass:
  br label %each
each:
  %w = phi i64 [ 0, %pass ], [ %next, %on ]
  %far = mul i64 %w, {RECORD}
  %record = getelementptr i8, ptr %records, i64 %far
  %at = getelementptr i8, ptr %record, i64 {STATE}
  %state = load i64, ptr %at
  %goes = icmp eq i64 %state, {GOES_ON}
  br i1 %goes, label %resume, label %on
resume:
  %handle = load ptr, ptr %record
  call void @llvm.coro.resume(ptr %handle)
  %after = load i64, ptr %at
  %failed = icmp ugt i64 %after, {OVER}
  br i1 %failed, label %fails, label %on
fails:
  %ended1 = phi i64 [ %qstate, %swift ], [ %after, %resume ]
  %behind = sub i64 %ended1, {OVER}
  %status = trunc i64 %behind to i32
  br label %leave
on:
  %next = add i64 %w, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %each, label %judge
judge:
  br label %look
look:
  %v = phi i64 [ 0, %judge ], [ %v1, %look ]
  %ready = phi i64 [ 0, %judge ], [ %ready1, %look ]
  %waiting = phi i64 [ 0, %judge ], [ %waiting1, %look ]
  %arrived = phi i64 [ 0, %judge ], [ %arrived1, %look ]
  %part = phi i64 [ -1, %judge ], [ %part1, %look ]
  %first = phi i64 [ -1, %judge ], [ %first1, %look ]
  %gone = phi i64 [ -1, %judge ], [ %gone1, %look ]
  %vfar = mul i64 %v, {RECORD}
  %vrecord = getelementptr i8, ptr %records, i64 %vfar
  %vat = getelementptr i8, ptr %vrecord, i64 {STATE}
  %vstate = load i64, ptr %vat
  %aat = getelementptr i8, ptr %vrecord, i64 {ARRIVED}
  %came = load i64, ptr %aat
  %eat = getelementptr i8, ptr %vrecord, i64 {EXISTING}
  %are = load i64, ptr %eat
  %isready = icmp eq i64 %vstate, {GOES_ON}
  %r = zext i1 %isready to i64
  %ready1 = add i64 %ready, %r
  %isall = icmp eq i64 %vstate, {WAITS}
  %isfew = icmp eq i64 %vstate, {PARTLY}
  %waits = or i1 %isall, %isfew
  %wt = zext i1 %waits to i64
  %waiting1 = add i64 %waiting, %wt
  %many = call i64 @llvm.ctpop.i64(i64 %came)
  %every1 = call i64 @llvm.ctpop.i64(i64 %are)
  %those = select i1 %isfew, i64 %many, i64 %every1
  %counted = select i1 %waits, i64 %those, i64 0
  %arrived1 = add i64 %arrived, %counted
  %nopart = icmp eq i64 %part, -1
  %newpart = and i1 %isfew, %nopart
  %part1 = select i1 %newpart, i64 %v, i64 %part
  %nofirst = icmp eq i64 %first, -1
  %newfirst = and i1 %waits, %nofirst
  %first1 = select i1 %newfirst, i64 %v, i64 %first
  %isgone = icmp eq i64 %vstate, {OVER}
  %nogone = icmp eq i64 %gone, -1
  %newgone = and i1 %isgone, %nogone
  %gone1 = select i1 %newgone, i64 %v, i64 %gone
  %v1 = add i64 %v, 1
  %vmore = icmp ult i64 %v1, %count
  br i1 %vmore, label %look, label %decide
decide:
  %anyready = icmp ne i64 %ready1, 0
  br i1 %anyready, label %again, label %met
again:
  br i1 %gives, label %away, label %pass
away:
  ret i32 {GIVES_TURN}
met:
  %none = icmp eq i64 %waiting1, 0
  br i1 %none, label %leave, label %all
all:
  %whole = icmp eq i64 %part1, -1
  %every = icmp eq i64 %waiting1, %count
  %ok = and i1 %whole, %every
  br i1 %ok, label %release, label %stuck
release:
  br label %round
stuck:
  %which = select i1 %whole, i64 %first1, i64 %part1
  %sfar = mul i64 %which, {RECORD}
  %srecord = getelementptr i8, ptr %records, i64 %sfar
  %sat = getelementptr i8, ptr %srecord, i64 {SITE}
  %site = load i64, ptr %sat
  %scat = getelementptr i8, ptr %srecord, i64 {ARRIVED}
  %scame = load i64, ptr %scat
  %seat = getelementptr i8, ptr %srecord, i64 {EXISTING}
  %sare = load i64, ptr %seat
  %not = xor i64 %scame, -1
  %lost = and i64 %sare, %not
  %lane = call i64 @llvm.cttz.i64(i64 %lost, i1 false)
  %base = mul i64 %which, {WARP}
  %missing = add i64 %base, %lane
  %gonebase = mul i64 %gone1, {WARP}
  %who = select i1 %whole, i64 %gonebase, i64 %missing
  %whofar = shl i64 %who, 16
  %ended = zext i1 %whole to i64
  %endedfar = shl i64 %ended, 32
  %d0 = or i64 %arrived1, %whofar
  %detail = or i64 %d0, %endedfar
  %endfar = mul i64 %count, {RECORD}
  %outsite = getelementptr i8, ptr %records, i64 %endfar
  store i64 %site, ptr %outsite
  %outdetail = getelementptr i8, ptr %outsite, i64 8
  store i64 %detail, ptr %outdetail
  br label %leave
leave:
  %result = phi i32 [ %status, %fails ], [ {int(Status.DONE)}, %met ], [ {DEADLOCK}, %stuck ]
  br label %drop
drop:
  %x = phi i64 [ 0, %leave ], [ %x1, %drop ]
  %xfar = mul i64 %x, {RECORD}
  %xrecord = getelementptr i8, ptr %records, i64 %xfar
  %xhandle = load ptr, ptr %xrecord
  call void @llvm.coro.destroy(ptr %xhandle)
  %x1 = add i64 %x, 1
  %xmore = icmp ult i64 %x1, %count
  br i1 %xmore, label %drop, label %done
done:
  ret i32 %result
}}
"""


def add_scheduler(module: ObjectModule) -> None:
    """The scheduler of warps, once in an object."""
    module.include(_SCHEDULER)
