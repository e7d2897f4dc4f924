"""Arguments made up: arrays as long as a kernel reaches, and scalars and tables with which its loops run twice.

Each choice is tried by a run that only notes how far it goes (reference/observed/reach.py). What is made up are words
(argument_words.py), so that a command line can repeat it. A kernel with the context of a window is tried on ranks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ptosim.argument_trials import NO_WORDS, RANK, RANKS, ArgumentTrial, ArgumentTrials, KernelParameters
from ptosim.argument_uses import ParameterUses
from ptosim.argument_words import AUTO, LARGEST, value_of
from ptosim.arguments import Parameter, bind, scalar
from ptosim.diagnostics import PTOError, error
from ptosim.options import engine_at_hand
from ptosim.reference.observed.reach import MOST_STEPS

MOST_TRIALS = 96
MOST_ENTRIES = 60_000
"""Entries of pipes in all trials; one that computes takes as long as several that only go to GM."""
COMPUTING = 5
MOST_GROWTHS = 6
MOST_DISCOVERIES = 4
"""The most tables that lead to another one."""
FEW_STEPS = 20_000
"""Loop iterations of a block, while one looks for numbers."""
MORE_STEPS = 8
"""The most steps of another choice, in multiples of the best one's and LEAST_STEPS."""
LEAST_STEPS = 2_000
MOST_EVEN = 4
MOST_ROWS = 1024
"""A constant above is no number of rows that a turn takes."""
TAIL = 6
"""Rows of the last turn, where a turn has more."""
WIDE = 64
"""A pitch of rows that the counts of tables do not exceed."""
SEEDS = 4
"""Tried for tables whose numbers may have to rise."""
FEW_RANKS = (2, 4, 8)
PLAIN = (3, 1, 0, 2, 16, 64, 128)
"""Numbers to try where nothing says more."""
_RANK_NAMES = re.compile(r"(my|this|local|self|cur)?_?rank(_?id|_?idx)?|me|my_?id|pe", re.IGNORECASE)
_RANKS_NAMES = re.compile(
    r"(n|num|n_|num_)(ranks?|pes?|npus?)|ranks|(ep_|tp_)?world_?size|rank_?(num|size|count|dim)|(ep|tp)_?size",
    re.IGNORECASE,
)


def example_arguments(
    kernel: Any, seed: int = 0, grid: int = 1, scalars: Mapping[str, Any] | None = None
) -> tuple[Any, ...]:
    """One argument for each parameter of a Kernel."""
    words = example_words(kernel, [AUTO] * len(kernel.signature), seed, grid, scalars or {})
    given = enumerate(zip(words, kernel.signature, strict=True))
    return tuple(value_of(word, parameter, seed + position) for position, (word, parameter) in given)


def example_words(
    kernel: Any,
    words: Sequence[str],
    seed: int = 0,
    grid: int = 1,
    scalars: Mapping[str, Any] | None = None,
    ranks: int | None = None,
) -> list[str]:
    """A word for each parameter: those that are given, and others where `auto` stands. `ranks`: on how many the
    kernel runs; the words are then those of a launch on ranks."""
    fixed = _fixed(kernel.signature, words, scalars or {})
    fixed = fixed if ranks is None else {**KernelParameters(kernel).peers, **fixed}
    if len(fixed) == len(kernel.signature):
        return [fixed[position] for position in range(len(fixed))]
    return _Search(kernel, fixed, seed, grid, ranks).words()


def ranks_needed(kernel: Any, grid: int = 1) -> int | None:
    """On how many ranks a Kernel can run that takes the context of a window, or pointers to peers; None for others."""
    parameters = KernelParameters(kernel)
    if not parameters.contexts:
        named = [int(number) for word in parameters.peers.values() if (number := word.rpartition(":")[2]).isdecimal()]
        return max(FEW_RANKS[0], 1 + max(named, default=0)) if parameters.peers else None
    for ranks in FEW_RANKS:
        if not _Search(kernel, {}, 0, grid, ranks).first().lacks_ranks:
            return ranks
    return FEW_RANKS[0]


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
        if fixed[position] not in (RANK, RANKS):
            scalar(position, signature[position], value_of(fixed[position], signature[position]))
    return fixed


# --- the search -------------------------------------------------------------------------------------------------------


class _Search:
    """Chooses words for the parameters of one kernel that have none."""

    def __init__(self, kernel: Any, fixed: Mapping[int, str], seed: int, grid: int, ranks: int | None) -> None:
        self.trials = ArgumentTrials(kernel, fixed, seed, grid, ranks)
        self.kernel, self.signature, self.fixed = kernel, self.trials.signature, fixed
        self.seed, self.grid, self.ranks = seed, grid, ranks
        self.pointers, self.contexts = self.trials.pointers, self.trials.contexts
        self.blind = not self.trials.probe.whole
        """Data decides nothing, so that most of it is not looked at."""
        self.left = MOST_TRIALS if self.blind else MOST_TRIALS // 3
        self.entries = MOST_ENTRIES if self.blind else MOST_ENTRIES // COMPUTING

    def words(self) -> list[str]:
        free = [position for position in range(len(self.signature)) if position not in self.fixed]
        for position in free:
            self._launchable(position)
        free = [position for position in free if position not in self.contexts]
        choices = self._choices()
        best = self._improved(self._released(self._first(choices)), choices)
        tables: dict[int, list[str]] = {}
        for _ in range(MOST_DISCOVERIES):
            found = [position for position in free if position not in tables and self._is_table(position, best)]
            if not found:
                break
            tables |= {position: self._tables(position, best) for position in found}
            best = self._with(best, {position: tables[position][0] for position in found})
            best = self._improved(best, tables, longer=True)
            best = self._improved(best, choices)
        best = self._released(best)
        words = self._final(best)
        looked_up = {position: words for position, words in tables.items() if not best.reaches[position].decides}
        words = self._in_range(words, looked_up) if looked_up else words
        return self._even(words, best, choices)

    def first(self) -> ArgumentTrial:
        """With the likeliest of all scalars."""
        return self._tried({position: words[0] for position, words in self._choices().items()}, FEW_STEPS)

    def _choices(self) -> dict[int, list[str]]:
        """Words for the scalars that are free."""
        known = (*self.fixed, *self.trials.strides)
        scalars = (position for position, parameter in enumerate(self.signature) if not parameter.is_pointer)
        return {position: self._numbers(position) for position in scalars if position not in known}

    def _launchable(self, position: int) -> None:
        parameter = self.signature[position]
        if parameter.is_pointer and not parameter.type.endswith(", gm>"):
            raise self._impossible(position, "a kernel can only be launched with pointers to gm")
        if self.ranks is None and position in self.trials.parameters.contexts:
            hint = (
                "'ptosim check FILE' launches it on ranks; from Python 'ptosim.launch' does, with 'ptosim.context(N)'"
            )
            raise error("argument", f"{self._said(position)} is the context of a window, for several ranks", hint=hint)
        if not parameter.is_pointer and parameter.element.kind not in ("signed", "unsigned", "float"):
            raise self._impossible(position, "a kernel can only be launched with pointers and scalars")

    def _impossible(self, position: int, reason: str) -> PTOError:
        return error("argument", f"nothing can be made up for {self._said(position)}: {reason}")

    def _said(self, position: int) -> str:
        return f"{self.signature[position].name}: {self.signature[position].type}"

    # --- candidates ---------------------------------------------------------------------------------------------------

    def _numbers(self, position: int) -> list[str]:
        """Words for a scalar, the likeliest first."""
        parameter = self.signature[position]
        element = parameter.element
        if element.is_float:
            return ["1e-05" if "eps" in parameter.name.lower() else "1.0"]
        if element.bits == 1:
            return ["1", "0"]
        uses = self.trials.parameters.uses(position)
        top = (1 << (element.bits - 1)) - 1
        numbers: dict[int, None] = {}
        for constant in sorted(each for each in uses.constants if 1 < each <= MOST_ROWS):
            for times in dict.fromkeys((self.grid, 1)) if uses.bounds else ():
                numbers.setdefault(2 * times * constant + min(TAIL, constant - 1))
                numbers.setdefault(2 * times * constant)
            numbers.setdefault(constant)
        if not uses.bounds:
            plain = 1 if uses.measures or uses.constants else 0
            numbers = dict.fromkeys((*uses.extents, plain, *numbers))
        if uses.begins or uses.scales:
            numbers = dict.fromkeys((0 if uses.begins else WIDE, *numbers))
        for side in uses.pitches:
            numbers.setdefault(side)
            numbers.setdefault(max(1, side - TAIL))
        numbers |= dict.fromkeys(PLAIN)
        if uses.signals:
            numbers.pop(0, None)  # what a word holds before
        return [*self._places(parameter, uses), *(str(number) for number in numbers if number <= top)][:16]

    def _places(self, parameter: Parameter, uses: ParameterUses) -> tuple[str, ...]:
        """Words of ranks for a whole number."""
        if _RANK_NAMES.fullmatch(parameter.name):
            return ("0",) if self.ranks is None else (RANK,)
        if self.ranks is None:
            return ()
        if _RANKS_NAMES.fullmatch(parameter.name):
            return (RANKS,)
        return (RANKS,) if uses.bounds else ()

    def _is_table(self, position: int, trial: ArgumentTrial) -> bool:
        """Whether numbers of an array decide where the kernel goes, or may."""
        reach = trial.reaches.get(position)
        if reach is None or not self.signature[position].element.is_integer:
            return False
        return reach.input and not reach.signals and (reach.decides or not self.blind)

    def _tables(self, position: int, trial: ArgumentTrial) -> list[str]:
        reach = trial.reaches[position]
        element = self.signature[position].element
        count = max(1, reach.high // element.bytes)
        if not reach.decides:  # perhaps numbers of lanes or rows
            limits = (f"index:{count}:{limit}" for limit in (64, 32, 16, 8, 4, 2, 1))
            return [f"rand:{count}", *limits, f"arange:{count}"]
        uses = self.trials.parameters.uses(position)
        words = [f"index:{count}:8", f"arange:{count}", *(f"index:{count}:{limit}" for limit in (4, 2, 1))]
        for constant in sorted(each for each in uses.constants if 1 < each <= MOST_ROWS):
            most = 2 * constant + min(TAIL, constant - 1)
            words.append(f"rand:{count}:1..{most}")
            words += [f"rand:{count}:{seed}:1..{most}" for seed in range(SEEDS)]
        for side in (each for each in uses.pitches if 1 < each <= MOST_ROWS):
            words.append(f"rand:{count}:1..{side}")
        return [*words, f"rand:{count}:1..8", f"ones:{count}"]

    # --- trials -------------------------------------------------------------------------------------------------------

    def _first(self, choices: Mapping[int, Sequence[str]]) -> ArgumentTrial:
        """The first trials: with the likeliest words, or with the same number for all that bound no loop."""
        firsts = {position: words[0] for position, words in choices.items()}
        plain = [position for position, word in firsts.items() if word in ("0", "1", "3")]
        best = self._tried(firsts, FEW_STEPS)
        for number in ("3", "1", "16", "128") if plain else ():
            if all(number in choices[position] for position in plain):
                other = self._with(best, dict.fromkeys(plain, number))
                best = other if other.cost < best.cost else best
        return best

    def _improved(
        self, best: ArgumentTrial, choices: Mapping[int, Sequence[str]], longer: bool = False
    ) -> ArgumentTrial:
        """Better choices, one after the other, until none helps. `longer`: one with which loops have more turns is
        better than another that is as good."""
        for _ in range(2):
            before = best
            for position, words in choices.items():
                for word in words:
                    if word != best.chosen[position] and self.left > 0:
                        other = self._with(best, {position: word})
                        is_longer = longer and other.cost == best.cost and best.turns < other.turns
                        best = other if other.cost < best.cost or is_longer else best
            if best is before:
                break
        return best

    def _released(self, best: ArgumentTrial) -> ArgumentTrial:
        """Words in GM that nothing in the launch sets hold the value that ends their wait."""
        numbers = dict.fromkeys(word for word in best.chosen.values() if word.isdecimal() and word not in ("0", "1"))
        waited = [
            position for position, reach in best.reaches.items() if reach.signals and not self._of_peers(position)
        ]
        for number in ("1", *numbers):
            if best.findings.end is None or not (free := [each for each in waited if each not in self.fixed]):
                break
            word = {position: f"full:{self._count(position, best)}:{number}" for position in free}
            other = self._with(best, word)
            best = other if other.cost < best.cost else best
        return best

    def _with(self, trial: ArgumentTrial, chosen: Mapping[int, str]) -> ArgumentTrial:
        """The same trial but for some choices; one that takes very much longer is no better."""
        few = FEW_STEPS if trial.findings.end else min(FEW_STEPS, LEAST_STEPS + MORE_STEPS * trial.findings.steps)
        return self._tried({**trial.chosen, **chosen}, few)

    def _tried(self, chosen: Mapping[int, str], max_steps: int, held: Mapping[int, str] = NO_WORDS) -> ArgumentTrial:
        found = self.trials(chosen, held, max_steps)
        self.entries -= found.findings.entries
        self.left = self.left - 1 if self.entries > 0 else 0
        return found

    # --- the end ------------------------------------------------------------------------------------------------------

    def _final(self, best: ArgumentTrial) -> list[str]:
        """The words, with arrays as long as they are reached when tables hold what they will."""
        if best.findings.end is not None:
            best = self._tried(best.chosen, MOST_STEPS)
        before: Mapping[int, str] = NO_WORDS
        for _ in range(MOST_GROWTHS):
            grown, held = self._grown(best), self._inputs(best)
            if grown == best.chosen and held == before:
                break
            before = held
            best = replace(self._tried(grown, MOST_STEPS, held), chosen=grown)
        reached = sum(reach.high for reach in best.findings.reaches.values())
        if reached > LARGEST:
            raise self._too_large(best)
        self._refused(best)
        return [self.fixed.get(position) or self._word(position, best) for position in range(len(self.signature))]

    def _in_range(self, words: list[str], tables: Mapping[int, Sequence[str]]) -> list[str]:
        """Numbers of lanes and rows that V or a copy looks up: the largest for which a check finds nothing, of all
        tables together and then of each."""
        if self._is_clean(words) is not False:
            return words
        for number in range(1, min(map(len, tables.values()))):
            changed = list(words)
            for position, others in tables.items():
                changed[position] = _as_long(words[position], others[number])
            if not self._is_clean(changed):
                continue
            for position, others in tables.items() if len(tables) > 1 else ():
                larger = (
                    [*changed[:position], each, *changed[position + 1 :]]
                    for each in (words[position], *(_as_long(words[position], other) for other in others[1:number]))
                )
                changed = next(filter(self._is_clean, larger), changed)
            return changed
        return words

    def _even(self, words: list[str], best: ArgumentTrial, choices: Mapping[int, Sequence[str]]) -> list[str]:
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
        if self.ranks is not None or engine_at_hand("native") != "native":
            return None
        if isinstance(sieve := self.kernel.sieve(), str):
            return None
        from ptosim.native.run.engine import Run

        given = enumerate(zip(words, self.signature, strict=True))
        bound = bind(self.signature, [value_of(word, each, self.seed + index) for index, (word, each) in given])
        run = Run(bound.values, bound.buffers, bound.regions, self.grid, None, MOST_STEPS, None, say=None)
        return not sieve.sift(run, range(self.grid)).blocks

    def _grown(self, trial: ArgumentTrial) -> dict[int, str]:
        """The same choices for tables as long as they are reached."""
        grown = dict(trial.chosen)
        for position, word in trial.chosen.items():
            if position in self.pointers:
                count = self._count(position, trial)
                kind, size, *rest = word.split(":")
                grown[position] = ":".join((kind, str(max(count, int(size))), *rest))
        return grown

    def _inputs(self, trial: ArgumentTrial) -> Mapping[int, str]:
        """Words for the other arrays that are read, if their contents may decide how far a kernel goes."""
        if self.blind:
            return NO_WORDS
        free = [each for each in self.pointers if each not in (*self.fixed, *self.contexts, *trial.chosen)]
        return {each: self._word(each, trial) for each in free if trial.reaches[each].input}

    def _count(self, position: int, trial: ArgumentTrial) -> int:
        high = trial.reaches[position].high
        return max(1, -(-high // self.signature[position].element.bytes))

    def _refused(self, trial: ArgumentTrial) -> None:
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

    def _too_large(self, trial: ArgumentTrial, message: str | None = None) -> PTOError:
        scalars = [each for each in self.signature if not each.is_pointer]
        which = ", ".join(f"--set {each.name}=NUMBER" for each in scalars[:4]) or "arrays of your own"
        reason = message or f"the kernel reaches more than {LARGEST >> 20} MB"
        return error("argument", f"no arguments can be made up: {reason}", hint=f"say how large it should be: {which}")

    def _word(self, position: int, trial: ArgumentTrial) -> str:
        parameter = self.signature[position]
        if not parameter.is_pointer:
            return trial.chosen[position]
        if position in self.contexts:
            return f"ctx:{self._window(trial)}"
        word = self._array(position, parameter, trial)
        if self.ranks is None:
            return word
        reach = trial.reaches[position]
        is_window = reach.remote or reach.signals or position == self._window(trial)
        return f"sym:{word}" if is_window or self._of_peers(position) else f"each:{word}"

    def _of_peers(self, position: int) -> bool:
        """Whether other ranks have a pointer to it."""
        return any(word.startswith(f"peer:{position}:") for word in self.fixed.values())

    def _window(self, trial: ArgumentTrial) -> int:
        """The first array that another rank goes to."""
        arrays = [each for each in self.pointers if each not in self.contexts]
        remote = (each for each in arrays if trial.reaches[each].remote)
        return next(remote, arrays[0] if arrays else 0)

    def _array(self, position: int, parameter: Parameter, trial: ArgumentTrial) -> str:
        reach = trial.reaches[position]
        shape = self._shape(position, self._count(position, trial), trial)
        kind, *options = trial.chosen.get(position, "").split(":")
        options = options[1:]
        if not kind:
            kind = "zeros" if not reach.input or reach.signals else "rand"
            kind = "ones" if kind == "rand" and parameter.element.name == "f8E8M0" else kind
        if self.seed and kind == "index":
            options.append(str(self.seed + position))
        elif self.seed and kind == "rand" and not any(each.isdecimal() for each in options):
            options.insert(0, str(self.seed + position))
        return ":".join((kind, shape, *options))

    def _shape(self, position: int, count: int, trial: ArgumentTrial) -> str:
        """Rows, where the length of one or their number is known."""
        uses = self.trials.parameters.uses(position)
        for columns in self.trials.rows_of(position, trial.chosen):
            if 1 < columns < count and count % columns == 0:
                return f"{count // columns}x{columns}"
        for rows in sorted(set(self.trials.numbers(trial.chosen).values()), reverse=True):
            if 1 < rows < count and count % rows == 0:
                return f"{rows}x{count // rows}"
        side = next((side for side in uses.pitches if 1 < side < count), 0)
        return f"{count // side}x{side}" if side and count % side == 0 else str(count)


def _whole(numbers: Sequence[str]) -> list[str]:
    """The numbers that may be sides of whole tiles, the largest first."""
    known = (int(number) for number in numbers if number.lstrip("-").isdecimal())
    return [str(number) for number in sorted({each for each in known if each > 0 and each % 8 == 0}, reverse=True)]


def _as_long(word: str, other: str) -> str:
    """Another word for an array of the same shape."""
    kind, _, *limit = other.split(":")
    return ":".join((kind, word.split(":")[1], *limit))
