"""Arguments made up: arrays as long as a kernel reaches, and scalars and tables with which its loops run twice.

Each choice is tried by a run that only notes how far it goes (reference/observed/reach.py). What is made up are words
(argument_words.py), so that a command line can repeat it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from ptosim.argument_words import AUTO, NULL, value_of
from ptosim.arguments import Parameter, array_bytes, bind, scalar
from ptosim.diagnostics import PTOError, error
from ptosim.language.micro.pointer import AddPtr, CastPtr, LdDev, LoadScalar
from ptosim.language.rules.operand_rules import constant_of
from ptosim.language.structure.control import For
from ptosim.language.structure.function import Function
from ptosim.machine.launch import KernelKind
from ptosim.machine.memory import pointer
from ptosim.options import engine_at_hand
from ptosim.reference.observed.reach import MOST_STEPS, Probe, ReachedLaunch, endless

if TYPE_CHECKING:
    from ptosim.language.analysis.kernel_entries import KernelProgram

LARGEST = 256 << 20
"""Bytes of all arrays together."""
MOST_TRIALS = 96
MOST_GROWTHS = 6
FEW_STEPS = 20_000
"""Loop iterations of a block, while one looks for numbers."""
MOST_EVEN = 4
MOST_ROWS = 1024
"""A constant above is no number of rows that a turn takes."""
TAIL = 6
"""Rows of the last turn, where a turn has more."""
_NUMBERS = re.compile(r"\d+")
DIMENSIONS = re.compile(r"[<\s](\d+)x(?:(\d+)x)?(?=[a-z!])")
PLAIN = (3, 1, 0, 2, 16, 64, 128)
"""Numbers to try where nothing says more."""


def example_arguments(
    kernel: Any, seed: int = 0, grid: int = 1, scalars: Mapping[str, Any] | None = None
) -> tuple[Any, ...]:
    """One argument for each parameter of a Kernel."""
    words = example_words(kernel, [AUTO] * len(kernel.signature), seed, grid, scalars or {})
    given = enumerate(zip(words, kernel.signature, strict=True))
    return tuple(value_of(word, parameter, seed + position) for position, (word, parameter) in given)


def example_words(
    kernel: Any, words: Sequence[str], seed: int = 0, grid: int = 1, scalars: Mapping[str, Any] | None = None
) -> list[str]:
    """A word for each parameter: those that are given, and others where `auto` stands."""
    fixed = _fixed(kernel.signature, words, scalars or {})
    if len(fixed) == len(kernel.signature):
        return [fixed[position] for position in range(len(fixed))]
    return _Search(kernel, fixed, seed, grid).words()


def _fixed(signature: Sequence[Parameter], words: Sequence[str], scalars: Mapping[str, Any]) -> dict[int, str]:
    fixed = {position: word for position, word in enumerate(words) if word != AUTO}
    named = {parameter.name: position for position, parameter in enumerate(signature)}
    for name, value in scalars.items():
        if name not in named:
            known = ", ".join(each.name for each in signature if not each.is_pointer) or "none"
            raise error("argument", f"there is no scalar '{name}'; those of this kernel are: {known}")
        position = named[name]
        if signature[position].is_pointer:
            raise error("argument", f"{name}: {signature[position].type} is an array, not a scalar: give its word")
        fixed[position] = str(value)
        scalar(position, signature[position], value_of(fixed[position], signature[position]))
    return fixed


# --- what the text says of a value ------------------------------------------------------------------------------------


@dataclass
class _Uses:
    """The uses of a value."""

    constants: dict[int, None] = field(default_factory=dict[int, None])
    """Integers that it is compared with, divided by, counted by."""
    pitches: dict[int, None] = field(default_factory=dict[int, None])
    """Sides of the tiles and views that it measures."""
    bounds: bool = False
    """It bounds a loop."""


def _uses(starts: Sequence[SSAValue]) -> _Uses:
    found = _Uses()
    seen: set[SSAValue] = set()
    pending = list(starts)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in tuple(value.uses):
            pending += _meets(use.operation, value, found)
    return found


def _meets(op: Operation, value: SSAValue, found: _Uses) -> Iterator[SSAValue]:
    """Notes what an operation does with a value; the values that come of it."""
    if isinstance(op, For):
        if value in (op.ub, op.lb):
            found.bounds = True
            for constant in (*_constants_behind(op.step), *_inside(op)):
                found.constants.setdefault(constant)
        if value is op.lb:
            yield op.body.block.args[0]
        return
    if op.name == "func.call":
        callee = getattr(op, "function", None)
        if isinstance(callee, Function) and not callee.is_declaration:
            for operand, argument in zip(op.operands, callee.body.block.args, strict=False):
                if operand is value:
                    yield argument
        return
    if op.name.startswith("arith."):
        for operand in op.operands:
            constant = constant_of(operand)
            if constant is not None and op.name not in ("arith.addi", "arith.subi", "arith.muli"):
                found.constants.setdefault(constant)
        yield from op.results
    elif isinstance(op, AddPtr | CastPtr | LoadScalar | LdDev):
        yield from op.results
    elif op.name.startswith("pto."):
        for type_ in (*(result.type for result in op.results), *(operand.type for operand in op.operands)):
            for side in (int(side) for match in DIMENSIONS.findall(str(type_)) for side in match if side):
                found.pitches.setdefault(side)


def _constants_behind(value: SSAValue, depth: int = 4) -> Iterator[int]:
    """The constants that a value is computed from."""
    if (constant := constant_of(value)) is not None:
        yield constant
    elif depth and isinstance(value.owner, Operation):
        for operand in value.owner.operands:
            yield from _constants_behind(operand, depth - 1)


def _inside(loop: For) -> Iterator[int]:
    """Sizes by which a loop cuts what it goes over."""
    for op in loop.body.block.ops:
        if op.name in ("arith.minsi", "arith.minui"):
            for operand in op.operands:
                yield from _constants_behind(operand, 0)


# --- the search -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Trial:
    """Choices, and what a launch with them shows."""

    chosen: Mapping[int, str]
    findings: ReachedLaunch

    @property
    def cost(self) -> tuple[Any, ...]:
        findings = self.findings
        reached = [reach.high for reach in findings.reaches.values()]
        size = sum(reached)
        wrong = {(kind, line, _NUMBERS.sub("", message)) for kind, message, line in findings.complaints}
        ends = findings.end is not None
        rewritten = sum(reach.rewritten for reach in findings.reaches.values())
        holes = sum(reach.has_holes for reach in findings.reaches.values())
        sizes = size > LARGEST >> 4, size > LARGEST >> 8
        return ends, reached.count(0), len(wrong), sizes[0], -findings.repeated, sizes[1], holes, rewritten

    def decides(self, number: int) -> bool:
        return self.findings.reaches[number].decides


class _Search:
    """Chooses words for the parameters of one kernel that have none."""

    def __init__(self, kernel: Any, fixed: Mapping[int, str], seed: int, grid: int) -> None:
        program: KernelProgram = kernel.program
        signature: tuple[Parameter, ...] = kernel.signature
        self.kernel, self.signature, self.fixed = kernel, signature, fixed
        self.seed, self.grid = seed, grid
        self.entries = list(program.entries.values())
        module = kernel.module
        kind, together = KernelKind(program.kind), program.cross_block
        self.probe = Probe(module.executable, program.entries, kind, together, module.machine())
        self.written = {function.symbol: function for function in _functions(module.verified.parsed.module)}
        self.pointers = {
            position: number
            for number, position in enumerate(
                position
                for position, parameter in enumerate(self.signature)
                if parameter.is_pointer and fixed.get(position) != NULL
            )
        }
        self.left = MOST_TRIALS // 3 if self.probe.whole else MOST_TRIALS
        self.max_steps = FEW_STEPS

    def words(self) -> list[str]:
        free = [position for position in range(len(self.signature)) if position not in self.fixed]
        for position in free:
            self._launchable(position)
        scalars = [position for position in free if not self.signature[position].is_pointer]
        choices = {position: self._numbers(position) for position in scalars}
        best = self._improved(self._first(choices), choices)
        tables = {position: self._tables(position, best) for position in free if self._is_table(position, best)}
        if tables:
            best = self._with(best, {position: words[0] for position, words in tables.items()})
            best = self._improved(best, tables, ending=-1)  # numbers may occur twice
            best = self._improved(best, choices)
        words, blind = self._final(best), [position for position in tables if not best.decides(self.pointers[position])]
        words = self._in_range(words, {position: tables[position] for position in blind}) if blind else words
        return self._even(words, best, choices)

    def _launchable(self, position: int) -> None:
        parameter = self.signature[position]
        if parameter.is_pointer and not parameter.type.endswith(", gm>"):
            raise self._impossible(position, "a kernel can only be launched with pointers to gm")
        if not parameter.is_pointer and parameter.element.kind not in ("signed", "unsigned", "float"):
            raise self._impossible(position, "a kernel can only be launched with pointers and scalars")

    def _impossible(self, position: int, reason: str) -> PTOError:
        parameter = self.signature[position]
        return error("argument", f"nothing can be made up for {parameter.name}: {parameter.type}: {reason}")

    def _values_of(self, position: int) -> list[SSAValue]:
        """A parameter in each entry as it was written."""
        name = self.signature[position].name
        found: list[SSAValue] = []
        for entry in (self.written.get(each.symbol, each) for each in self.entries):
            found += [each for each in entry.body.block.args if each.name_hint == name] or (
                [entry.body.block.args[position]] if position < len(entry.body.block.args) else []
            )
        return found

    # --- candidates ---------------------------------------------------------------------------------------------------

    def _numbers(self, position: int) -> list[str]:
        """Words for a scalar, the likeliest first."""
        parameter = self.signature[position]
        element = parameter.element
        if element.is_float:
            return ["1e-05" if "eps" in parameter.name.lower() else "1.0"]
        if element.bits == 1:
            return ["1", "0"]
        uses = _uses(self._values_of(position))
        top = (1 << (element.bits - 1)) - 1
        numbers: dict[int, None] = {}
        for constant in sorted(each for each in uses.constants if 1 < each <= MOST_ROWS):
            for times in dict.fromkeys((self.grid, 1)) if uses.bounds else ():
                numbers.setdefault(2 * times * constant + min(TAIL, constant - 1))
                numbers.setdefault(2 * times * constant)
            numbers.setdefault(constant)
        if not uses.bounds:
            numbers = dict.fromkeys((0 if not uses.constants and not uses.pitches else 1, *numbers))
        for side in uses.pitches:
            numbers.setdefault(side)
            numbers.setdefault(max(1, side - TAIL))
        numbers |= dict.fromkeys(PLAIN)
        return [str(number) for number in numbers if number <= top][:16]

    def _is_table(self, position: int, trial: _Trial) -> bool:
        """Whether numbers of an array decide where the kernel goes, or may."""
        number = self.pointers.get(position)
        if number is None or not self.signature[position].element.is_integer:
            return False
        reach = trial.findings.reaches[number]
        return reach.input and not reach.signals and (reach.decides or self.probe.whole)

    def _tables(self, position: int, trial: _Trial) -> list[str]:
        reach = trial.findings.reaches[self.pointers[position]]
        element = self.signature[position].element
        count = max(1, reach.high // element.bytes)
        if not reach.decides:  # perhaps numbers of lanes or rows
            return [f"rand:{count}", *(f"index:{count}:{limit}" for limit in (64, 32, 16, 8, 4, 2, 1))]
        uses = _uses(self._values_of(position))
        words = [f"index:{count}:{limit}" for limit in (8, 4, 2, 1)]
        for constant in sorted(each for each in uses.constants if 1 < each <= MOST_ROWS):
            words.append(f"rand:{count}:1..{2 * constant + min(TAIL, constant - 1)}")
        for side in (each for each in uses.pitches if 1 < each <= MOST_ROWS):
            words.append(f"rand:{count}:1..{side}")
        return [*words, f"rand:{count}:1..8", f"ones:{count}"]

    # --- trials -------------------------------------------------------------------------------------------------------

    def _first(self, choices: Mapping[int, Sequence[str]]) -> _Trial:
        """Where to begin: with the likeliest words, or with the same number for all that bound no loop."""
        firsts = {position: words[0] for position, words in choices.items()}
        plain = [position for position, word in firsts.items() if word in ("0", "1", "3")]
        best = self._tried(firsts)
        for number in ("3", "1", "16", "128") if plain else ():
            if all(number in choices[position] for position in plain):
                other = self._tried({**firsts, **dict.fromkeys(plain, number)})
                best = other if other.cost < best.cost else best
        return best

    def _improved(self, best: _Trial, choices: Mapping[int, Sequence[str]], ending: int | None = None) -> _Trial:
        """Better choices, one after the other, until none helps."""
        for _ in range(2):
            before = best
            for position, words in choices.items():
                for word in words:
                    if word != best.chosen[position] and self.left > 0:
                        other = self._with(best, {position: word})
                        best = other if other.cost[:ending] < best.cost[:ending] else best
            if best is before:
                break
        return best

    def _with(self, trial: _Trial, chosen: Mapping[int, str]) -> _Trial:
        return self._tried({**trial.chosen, **chosen})

    def _tried(self, chosen: Mapping[int, str]) -> _Trial:
        self.left -= 1
        values: list[int] = []
        buffers: dict[int, Any] = {}
        for position, parameter in enumerate(self.signature):
            word = self.fixed.get(position) or chosen.get(position)
            number = self.pointers.get(position)
            if not parameter.is_pointer:
                assert word is not None
                values.append(scalar(position, parameter, value_of(word, parameter)))
            elif number is None:
                values.append(0)
            else:
                values.append(pointer(number))
                held = None if word is None else value_of(word, parameter, self.seed + position)
                buffers[number] = endless() if held is None else endless(array_bytes(position, parameter, held))
        names = [self.signature[position].name for position in self.pointers]
        return _Trial(chosen, self.probe(values, buffers, names, self.grid, self.max_steps))

    # --- the end ------------------------------------------------------------------------------------------------------

    def _final(self, best: _Trial) -> list[str]:
        """The words, with arrays as long as they are reached when tables hold what they will."""
        self.max_steps = MOST_STEPS
        if best.findings.end is not None:
            best = self._tried(best.chosen)
        for _ in range(MOST_GROWTHS):
            grown = self._grown(best)
            if grown == best.chosen:
                break
            best = replace(best, findings=self._tried(grown).findings, chosen=grown)
        reached = sum(reach.high for reach in best.findings.reaches.values())
        if reached > LARGEST:
            raise self._too_large(best)
        self._refused(best)
        return [self.fixed.get(position) or self._word(position, best) for position in range(len(self.signature))]

    def _in_range(self, words: list[str], tables: Mapping[int, Sequence[str]]) -> list[str]:
        """Numbers of lanes and rows that V or a copy looks up: the largest for which a check finds nothing."""
        if self._is_clean(words) is not False:
            return words
        for number in range(1, min(map(len, tables.values()))):
            changed = list(words)
            for position, others in tables.items():
                limit = others[number].rpartition(":")[2]
                changed[position] = f"index:{words[position].split(':')[1]}:{limit}"
            if self._is_clean(changed):
                return changed
        return words

    def _even(self, words: list[str], best: _Trial, choices: Mapping[int, Sequence[str]]) -> list[str]:
        """Numbers without a tail, where a check finds nothing with them and something with the words: a kernel may be
        for whole tiles."""
        whole = {position: _whole(numbers) for position, numbers in choices.items()}
        if not any(whole.values()) or self._is_clean(words) is not False:
            return words
        for number in range(MOST_EVEN):
            even = {position: some[min(number, len(some) - 1)] for position, some in whole.items() if some}
            trial = self._with(best, even)
            if trial.cost[:4] <= best.cost[:4]:
                others = self._final(trial)
                if self._is_clean(others):
                    return others
        return words

    def _is_clean(self, words: Sequence[str]) -> bool | None:
        """Whether compiled code finds nothing; None where it cannot tell."""
        if engine_at_hand("native") != "native" or isinstance(sieve := self.kernel.sieve(), str):
            return None
        from ptosim.native.run.engine import Run

        given = enumerate(zip(words, self.signature, strict=True))
        bound = bind(self.signature, [value_of(word, each, self.seed + index) for index, (word, each) in given])
        run = Run(bound.values, bound.buffers, bound.regions, self.grid, None, MOST_STEPS, None, say=None)
        return not sieve.sift(run, range(self.grid)).blocks

    def _grown(self, trial: _Trial) -> dict[int, str]:
        """The same choices for tables as long as they are reached."""
        grown = dict(trial.chosen)
        for position, word in trial.chosen.items():
            if position in self.pointers:
                count = self._count(position, trial)
                kind, size, *rest = word.split(":")
                grown[position] = ":".join((kind, str(max(count, int(size))), *rest))
        return grown

    def _count(self, position: int, trial: _Trial) -> int:
        high = trial.findings.reaches[self.pointers[position]].high
        return max(1, -(-high // self.signature[position].element.bytes))

    def _refused(self, trial: _Trial) -> None:
        """Refuses a kernel that no arguments can run: pointers that come from elsewhere."""
        end = trial.findings.end
        if end is None:
            return
        (first, *_) = end.diagnostics
        if first.kind == "out-of-bounds" and "comes from no argument" in first.message:
            which = next((p.name for p in self.signature if not p.is_pointer and p.element.bits == 64), None)
            name = f"%{which}" if which else "one of its arguments"
            raise error(
                "argument",
                f"nothing can be made up for this kernel: it {first.message}",
                first.location,
                hint=f"{name} may be an address or a context of ranks: give words for all arguments",
            )
        if first.kind == "out-of-bounds":
            raise self._too_large(trial, first.message)

    def _too_large(self, trial: _Trial, message: str | None = None) -> PTOError:
        scalars = [each for each in self.signature if not each.is_pointer]
        which = ", ".join(f"--set {each.name}=NUMBER" for each in scalars[:4]) or "arrays of your own"
        reason = message or f"the kernel reaches more than {LARGEST >> 20} MB"
        return error("argument", f"no arguments can be made up: {reason}", hint=f"say how large it should be: {which}")

    def _word(self, position: int, trial: _Trial) -> str:
        parameter = self.signature[position]
        if not parameter.is_pointer:
            return trial.chosen[position]
        reach = trial.findings.reaches[self.pointers[position]]
        count = self._count(position, trial)
        kind, _, rest = trial.chosen.get(position, "").partition(":")
        if kind:
            rest = rest.partition(":")[2]
            seed = str(self.seed) if self.seed and kind == "index" else ""
            return ":".join(filter(None, (kind, self._shape(position, count, trial), rest, seed)))
        shape = self._shape(position, count, trial)
        if not reach.input or reach.signals:
            return f"zeros:{shape}"
        if parameter.element.name == "f8E8M0":
            return f"ones:{shape}"
        return f"rand:{shape}:{self.seed + position}" if self.seed else f"rand:{shape}"

    def _shape(self, position: int, count: int, trial: _Trial) -> str:
        """Rows, where a scalar says how many there are."""
        numbers = [
            int(word, 0)
            for other, word in {**self.fixed, **trial.chosen}.items()
            if not self.signature[other].is_pointer and self.signature[other].element.is_integer
        ]
        for rows in sorted(set(numbers), reverse=True):
            if 1 < rows < count and count % rows == 0:
                return f"{rows}x{count // rows}"
        side = next((side for side in _uses(self._values_of(position)).pitches if 1 < side < count), 0)
        return f"{count // side}x{side}" if side and count % side == 0 else str(count)


def _whole(numbers: Sequence[str]) -> list[str]:
    """The numbers that may be sides of whole tiles, the largest first."""
    known = (int(number) for number in numbers if number.lstrip("-").isdecimal())
    return [str(number) for number in sorted({each for each in known if each > 0 and each % 8 == 0}, reverse=True)]


def _functions(module: Operation) -> Iterator[Function]:
    return (op for op in module.walk() if isinstance(op, Function))
