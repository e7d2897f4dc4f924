"""Functions under construction: blocks, loops with carried values, choices with results, and how a kernel fails.

Every function takes the context (context.py) first and returns a status first, so that a failure anywhere ends the run.
Checks do not branch one by one: they gather and are tested together, at the latest where the code branches anyway.
What a check guards must therefore be harmless when it fails; `access` makes an address so. Loops count their iterations
and look at the stop word. Lowerings never see a phi.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ptosim.native.ir.context import LOOPS_RECORDED, ContextWord, Status
from ptosim.native.ir.instance import Instance
from ptosim.native.ir.instructions import Instructions
from ptosim.native.ir.ranges import indices
from ptosim.native.ir.values import I1, I32, I64, PTR, Operand, Type, Value, constant, poison

if TYPE_CHECKING:
    from ptosim.native.ir.module import ObjectModule

Linkage = Literal["exported", "internal", "shared"]
"""Whether a function is called from outside of the object, from its own file, or from another file of it."""
LINKAGE = {"exported": "", "internal": "internal ", "shared": ""}
_ATTRIBUTES = {"exported": "nounwind", "internal": "nounwind noinline", "shared": "nounwind noinline"}

# One test for each check, or one for hundreds of them, compiles slower: the one has more blocks, the other longer live
# ranges. At run time there is no difference up to here.
_CHECKS_PER_TEST = 8

Reported = Value | int | Callable[[], Value]
Body = Callable[[Value, list[Value]], Sequence[Value]]  # (index, carried) -> carried by the next iteration


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """A condition under which the kernel is wrong, the number of its site, and two values that go into the report.

    Where `confirm` is given the condition is a suspicion, and the kernel is wrong if both hold.
    """

    wrong: Value
    site: int
    value: Reported
    detail: Reported
    confirm: Callable[[], Value] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A position in a function, to go back to."""

    lines: int
    phis: dict[str, int]
    label: str
    checks: list[Check]
    known: list[dict[object, Value]]
    loops: list[Value]


class FunctionBuilder(Instructions):
    """One function. Values of its operators land in the block that is open at the time."""

    def __init__(
        self, module: ObjectModule, name: str, parameters: tuple[Type, ...], results: tuple[Type, ...], linkage: Linkage
    ) -> None:
        super().__init__()
        self.module = module
        self.name = name
        self.results = results
        self.linkage: Linkage = linkage
        self.parameters = [Value(self, kind, f"%p{number}") for number, kind in enumerate(parameters)]
        self.instance: Instance | None = None  # where several entries share the function
        self.loops: list[Value] = []  # indices of the loops around the open block, outermost first
        self._phis: dict[str, int] = {}  # the lines that wait for `_fill`
        self._label = "entry"
        self._checks: list[Check] = []
        self._stop: Value | None = None

    # --- failing ------------------------------------------------------------------------------------------------------

    def check(
        self,
        wrong: Value,
        site: int,
        value: Reported = 0,
        detail: Reported = 0,
        confirm: Callable[[], Value] | None = None,
    ) -> None:
        """From the next branch on, the kernel has failed at this site if the condition holds and is confirmed.

        What goes into the report may be a function that computes it. That one and `confirm` cost nothing as long as
        the condition does not hold.
        """
        if wrong.literal == 0:
            return
        self._checks.append(Check(wrong, site, value, detail, confirm))
        if len(self._checks) >= _CHECKS_PER_TEST:
            self.settle()

    def settle(self, poll: bool = False) -> None:
        """Leave the function if a check has failed or, when polling, if the run is to stop."""
        wrong = self._any_wrong(self._checks)
        stop = self._stop_word().load_shared(I64) != 0 if poll else constant(self, I1, 0)
        if (wrong | stop).literal == 0:
            return
        cold = self._branch_unlikely(wrong | stop)
        self._start(cold[0])
        with self._region():
            checks = [self._confirmed(check) for check in self._checks]
            if any(check.confirm for check in self._checks):
                wrong = self._any_wrong(checks)
                sure = self._fresh("sure")
                self.do(f"br {wrong | stop}, label %{sure}, label %{cold[1]}")
                self._start(sure)
            if not self.module.sifting:
                self._record(checks)
            failed = constant(self, I32, Status.FAILED)
            self._return(wrong.select(failed, Status.STOPPED) if poll else failed)
        self._start(cold[1])
        self._checks = []

    def access(self, address: Value, extent: int, size: int, align: int, site: int) -> Value:
        """The address, confined, of `extent` bytes in an on-chip memory, checked for bounds and alignment.

        The site reports one address for both; the address shows which of the two was wrong.
        """
        # two comparisons, because LLVM often knows that one of them cannot fail
        misaligned = (address & (align - 1)) != 0
        self.check(misaligned | address.compare("ugt", size - extent), site, address)
        return self.confined(address, size)

    def confined(self, address: Value, size: int) -> Value:
        """An address that equals this one if it lies in a memory of that size, and lies in its allocation in any case.

        Allocations are a power of two and some bytes more (memory.py): the bytes after a confined address exist.
        """
        return address & ((1 << (size - 1).bit_length()) - 1)

    def count_steps(self, steps: Value, site: int) -> None:
        """Take so many, an unsigned number, from the steps that are left."""
        word = self.word(ContextWord.STEPS)
        left = word.load(I64, 8)
        self.check(steps.compare("ugt", left), site)
        word.store(left - steps, 8)

    # --- control flow -------------------------------------------------------------------------------------------------

    def for_loop(
        self,
        lower: Value,
        upper: Operand,
        step: Operand,
        carried: Sequence[Value],
        body: Body,
        site: int | None = None,
        polls: bool = True,
    ) -> list[Value]:
        """`body` for each index from `lower` up to `upper` by a positive `step`; what its last call returned.

        All its iterations count against max_steps when it begins, with `site` as the place that reports it; those of a
        loop without a site do not count. A short loop need not look at the stop word, so that LLVM can vectorise it.
        """
        upper, step = lower.like(upper), lower.like(step)
        if site is not None:
            entered = lower < upper
            # exact as unsigned numbers, however far apart the bounds are
            self.count_steps(entered * ((upper - lower - 1).udiv(step).zext(I64) + 1), site)
        results: list[Value] = []
        with self._loop(lower, upper, step, carried, results, polls) as (index, *entering):
            results += body(index, entering)
        return results

    @contextmanager
    def each(self, upper: Value | int, step: int = 1, lower: Value | int = 0, polls: bool = False) -> Generator[Value]:
        """The indices from `lower` up to `upper`: a loop inside of an instruction, which carries nothing."""
        end = self.as_i64(upper)
        with self._loop(end.like(lower), end, end.like(step), (), [], polls) as (index,):
            yield index

    @contextmanager
    def nested(self, steps: Sequence[Sequence[Value]], *starts: Value) -> Generator[tuple[Value, ...]]:
        """Every combination of steps, the first of which is the innermost: how often, and how far from each start."""
        with ExitStack() as loops:
            for count, *distances in reversed(steps):
                if count.literal != 1:
                    index = loops.enter_context(self.each(count))
                    moved = zip(starts, distances, strict=True)
                    starts = tuple(start + index * distance for start, distance in moved)
            yield starts

    @contextmanager
    def _loop(
        self, lower: Value, upper: Value, step: Value, carried: Sequence[Value], results: list[Value], polls: bool
    ) -> Generator[list[Value]]:
        """The index and what is carried into an iteration. Its code leaves what is carried on in `results`, which is
        afterwards what the last iteration left."""
        entered = lower < upper
        self.settle(polls)
        before, inside, done = self._label, self._fresh("loop"), self._fresh("done")
        self.do(f"br {entered}, label %{inside}, label %{done}")
        self._start(inside)
        entering = [self._phi(value.kind) for value in (lower, *carried)]
        index = entering[0]
        index.known = indices(lower.range, upper.range, step.range)
        with self._region(index):
            yield entering
            # the distance left is exact even where index + step would wrap
            more = (upper - index).compare("ugt", step)
            following = index + step
            self.settle(polls)
        latch = self._label
        self.do(f"br {more}, label %{inside}, label %{done}")
        for phi, first, next_ in zip(entering, (lower, *carried), (following, *results), strict=True):
            self._fill(phi, (first, before), (next_, latch))
        self._start(done)
        results[:] = [self._join((a, before), (b, latch)) for a, b in zip(carried, results, strict=True)]

    def while_loop(
        self,
        carried: Sequence[Value],
        before: Callable[[list[Value]], tuple[Value, Sequence[Value]]],
        after: Callable[[list[Value]], Sequence[Value]],
        site: int | None = None,
    ) -> list[Value]:
        """scf.while: `before` gives a condition and values; `after` takes them as long as the condition holds."""
        self.settle()
        entry, head, inside, done = self._label, self._fresh("while"), self._fresh("do"), self._fresh("done")
        self.do(f"br label %{head}")
        self._start(head)
        entering = [self._phi(value.kind) for value in carried]
        self._known.append({})
        going_on, handed = before(entering)
        if site is not None:
            self.count_steps(going_on * 1, site)
        self.settle(poll=True)
        self.do(f"br {going_on}, label %{inside}, label %{done}")
        self._start(inside)
        with self._region():
            following = after(list(handed))
            self.settle()
        self.do(f"br label %{head}")
        for phi, first, next_ in zip(entering, carried, following, strict=True):
            self._fill(phi, (first, entry), (next_, self._label))
        self._known.pop()
        self._start(done)
        return list(handed)

    def repeat(self, count: Value, act: Callable[[Value], None]) -> None:
        """`act` for each number below a count: a loop inside of an instruction that may fail. Errors do not list its
        index, which is none of the kernel's."""

        def step(carried: list[Value]) -> Sequence[Value]:
            act(carried[0])
            return [carried[0] + 1]

        self.while_loop([count.like(0)], lambda carried: (carried[0] < count, carried), step)

    def choose(
        self, condition: Value, then: Callable[[], Sequence[Value]], otherwise: Callable[[], Sequence[Value]] = tuple
    ) -> list[Value]:
        """scf.if: the values of the side that was taken."""
        *arms, joined = self._branch(condition)
        sides: list[list[tuple[Value, str]]] = []
        for label, make in zip(arms, (then, otherwise), strict=True):
            with self._arm(label, joined):
                values = make()
            sides.append([(value, self._label) for value in values])
        self._start(joined)
        return [self._join(*pair) for pair in zip(*sides, strict=True)]

    def either(self, condition: Value, act: Callable[[], None], otherwise: Callable[[], None] = lambda: None) -> None:
        """One of two things, whichever the condition says; nothing but that one where it is known."""
        if condition.literal is not None:
            (act if condition.literal else otherwise)()
            return
        *arms, joined = self._branch(condition)
        for label, make in zip(arms, (act, otherwise), strict=True):
            with self._arm(label, joined):
                make()
        self._start(joined)

    @contextmanager
    def when(self, condition: Value) -> Generator[None]:
        """Code that runs only if the condition holds."""
        then, otherwise, joined = self._branch(condition)
        with self._arm(then, joined):
            yield
        with self._arm(otherwise, joined):
            pass
        self._start(joined)

    def call(self, callee: FunctionBuilder, *arguments: Value) -> list[Value]:
        """Another function of the module, with this one's context; its failure is this one's."""
        self.settle()
        operands = ", ".join(map(str, (self.context, *arguments)))
        kind = callee.result_text()
        called = self._fresh("%v")
        self._lines.append(f"  {called} = call {kind} @{callee.name}({operands})")
        status = Value(self, I32, called) if not callee.results else self._extract(I32, kind, called, 0)
        self.leave_with(status)
        return [self._extract(result, kind, called, 1 + number) for number, result in enumerate(callee.results)]

    def status_of(self, function: str, *arguments: Value) -> Value:
        """The status that a function without results returns: one of the module (`@name`), or of the run time (an
        address). What it does must not happen after a failure, so settle before."""
        return self.emit(I32, f"call i32 {function}({', '.join(map(str, arguments))})")

    def leave_with(self, status: Value) -> None:
        """Go on where the status is DONE."""
        cold = self._branch_unlikely(status != Status.DONE)
        self._start(cold[0])
        with self._region():
            self._return(status)
        self._start(cold[1])

    def finish(self, *results: Value) -> None:
        """The regular end."""
        self.settle()
        self._return(constant(self, I32, Status.DONE), results)

    # --- second thoughts ----------------------------------------------------------------------------------------------

    def mark(self) -> Mark:
        """The present position, for `go_back`."""
        known = [dict(made) for made in self._known]
        return Mark(len(self._lines), dict(self._phis), self._label, list(self._checks), known, list(self.loops))

    def go_back(self, mark: Mark) -> None:
        """Take back everything since the mark."""
        del self._lines[mark.lines :]
        self._phis, self._label, self._checks = dict(mark.phis), mark.label, list(mark.checks)
        self._known = [dict(made) for made in mark.known]
        self.loops[:] = mark.loops

    # --- text ---------------------------------------------------------------------------------------------------------

    def result_text(self) -> str:
        return f"{{ i32, {', '.join(map(str, self.results))} }}" if self.results else "i32"

    @property
    def is_exported(self) -> bool:
        return self.linkage == "exported"

    @property
    def lines(self) -> int:
        return len(self._lines)

    def declaration(self, name: str) -> str:
        """For a file that calls the function, by this name."""
        parameters = ", ".join(["ptr", *(str(parameter.kind) for parameter in self.parameters)])
        return f"declare {self.result_text()} @{name}({parameters}) nounwind"

    def definition(self) -> str:
        parameters = ", ".join(["ptr noalias %context", *map(str, self.parameters)])
        head = f"define {LINKAGE[self.linkage]}{self.result_text()} @{self.name}({parameters})"
        return "\n".join([f"{head} {_ATTRIBUTES[self.linkage]} {{", "entry:", *self._slots, *self._lines, "}\n"])

    def _stop_word(self) -> Value:
        """The address of the stop word, loaded once when the function begins."""
        if self._stop is None:
            self._slots.append(f"  %stop = load ptr, {self.context}, align 8  ; Word.STOP is the first")
            self._stop = Value(self, PTR, "%stop")
        return self._stop

    # --- inside -------------------------------------------------------------------------------------------------------

    def _start(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._label = label

    @contextmanager
    def _region(self, *indices: Value) -> Generator[None]:
        """A block that does not dominate what follows: what was made in it is forgotten after it."""
        self._known.append({})
        self.loops.extend(indices)
        yield
        del self.loops[len(self.loops) - len(indices) :]
        self._known.pop()

    def _branch(self, condition: Value) -> tuple[str, str, str]:
        """The labels of two arms and of where they meet again."""
        then, otherwise, joined = (self._fresh(stem) for stem in ("then", "else", "join"))
        self.do(f"br {condition}, label %{then}, label %{otherwise}")
        return then, otherwise, joined

    @contextmanager
    def _arm(self, label: str, joined: str) -> Generator[None]:
        self._start(label)
        waiting = list(self._checks)
        with self._region():
            yield
            if any(check not in waiting for check in self._checks):
                self.settle()
        self._checks = waiting  # they come before the choice, so whatever follows it still has to test them
        self.do(f"br label %{joined}")

    def _phi(self, kind: Type) -> Value:
        """A phi whose line is written by `_fill` once its second source exists."""
        name = self._fresh("%phi")
        self._phis[name] = len(self._lines)
        self._lines.append("")
        return Value(self, kind, name)

    def _fill(self, phi: Value, *sources: tuple[Value, str]) -> None:
        self._lines[self._phis.pop(phi.text)] = f"  {phi.text} = {self._phi_text(phi.kind, *sources)}"

    def _join(self, *sources: tuple[Value, str]) -> Value:
        (first, _), (second, _) = sources
        if first.kind != second.kind:
            raise TypeError(f"{first} meets {second}")
        return first if first.text == second.text else self.emit(first.kind, self._phi_text(first.kind, *sources))

    @staticmethod
    def _phi_text(kind: Type, *sources: tuple[Value, str]) -> str:
        return f"phi {kind} " + ", ".join(f"[ {value.text}, %{label} ]" for value, label in sources)

    def _extract(self, kind: Type, aggregate: str, text: str, number: int) -> Value:
        return self.emit(kind, f"extractvalue {aggregate} {text}, {number}")

    def _reported(self, value: Reported) -> Value:
        if isinstance(value, int):
            return constant(self, I64, value)
        return (value if isinstance(value, Value) else value()).signed(I64)

    @staticmethod
    def _confirmed(check: Check) -> Check:
        return check if check.confirm is None else replace(check, wrong=check.wrong & check.confirm(), confirm=None)

    def _any_wrong(self, checks: Sequence[Check]) -> Value:
        """All conditions OR-ed, as a tree: a chain would make each wait for the one before."""
        level = [check.wrong for check in checks] or [constant(self, I1, 0)]
        while len(level) > 1:
            level = [a | b for a, b in zip(level[::2], level[1::2], strict=False)] + level[len(level) & ~1 :]
        return level[0]

    def _record(self, checks: Sequence[Check]) -> None:
        """In the cold block: the first failing check, its value and the loop indices go to the context."""
        if not checks:
            return
        *earlier, last = checks
        site, value, detail = constant(self, I64, last.site), self._reported(last.value), self._reported(last.detail)
        for check in reversed(earlier):
            site = check.wrong.select(check.site, site)
            value = check.wrong.select(self._reported(check.value), value)
            detail = check.wrong.select(self._reported(check.detail), detail)
        if self.instance is not None:
            site = site + self.instance.shift
        loops = self.loops[:LOOPS_RECORDED]
        words = {ContextWord.FAULT: site, ContextWord.FAULT_VALUE: value, ContextWord.FAULT_DETAIL: detail}
        words[ContextWord.FAULT_DEPTH] = constant(self, I64, len(loops))
        words |= {ContextWord.FAULT_LOOPS + depth: index.signed(I64) for depth, index in enumerate(loops)}
        for word, content in words.items():
            self.word(word).store(content, 8)

    def _branch_unlikely(self, condition: Value) -> tuple[str, str]:
        cold, on = self._fresh("cold"), self._fresh("on")
        self.do(f"br {condition}, label %{cold}, label %{on}, !prof !1")
        return cold, on

    def _return(self, status: Value, results: Sequence[Value] | None = None) -> None:
        if not self.results:
            self.do(f"ret {status}")
            return
        kind = self.result_text()
        values = results if results is not None else [poison(self, result) for result in self.results]
        text = "poison"
        for number, value in enumerate((status, *values)):
            text = self.emit(I32, f"insertvalue {kind} {text}, {value}, {number}").text
        self.do(f"ret {kind} {text}")
