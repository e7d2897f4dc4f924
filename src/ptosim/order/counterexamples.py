"""Counterexamples: what a proof suspects is replayed before it is said, and so, where that is cheap, is a proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation

from ptosim.diagnostics import Diagnostic
from ptosim.effects.names import CoreKind
from ptosim.language.load import VerifiedModule
from ptosim.language.micro.system import GetBlockIdx
from ptosim.language.passes.launch_parameters import name_of
from ptosim.language.structure.control import If
from ptosim.language.structure.function import Function, reached
from ptosim.order.replay.byte_shadow import Shown
from ptosim.order.replay.launches import decide_bytes, launches, sizes
from ptosim.order.replay.replay import Replayed, Replayer
from ptosim.order.replay.scalar_run import ReplayLaunch

MOST_LAUNCHES = 96
"""The most launches that are replayed to show a suspicion."""
MOST_EFFORT = 1 << 15
"""And so many entries, over all launches."""
FEW_LAUNCHES = 12
FEW_EFFORT = 1 << 10
"""Likewise to contradict a proof: as much as takes a few hundredths of a second."""
GRIDS = (2, 3)
"""Blocks of a launch that shows what they have to do with each other."""
PROTOCOL = frozenset("unmatched-wait deadlock double-set undrained semaphore-overflow".split())
"""Kinds of findings about flags or signals that do not balance."""
STUCK = frozenset(("unmatched-wait", "deadlock"))
SMALL, LARGE = 1, 1 << 16
"""Strides and lengths with which a race has to show."""
NOT_SHOWN = "no launch that was replayed shows it"


@dataclass(frozen=True)
class Tried:
    """Verdicts on suspicions."""

    shown: tuple[Diagnostic, ...]
    """The suspicions that a replay shows, with the launch it takes."""
    unshown: tuple[Diagnostic, ...]


class ReplayTrials:
    """Replays of one kernel for its proof."""

    def __init__(self, module: VerifiedModule, entries: Mapping[CoreKind, Function]) -> None:
        self.module = module
        self.functions = list(entries.values())
        self._replayer = Replayer(module, entries)
        self._decide_bytes = decide_bytes(self.functions)
        self._sizes = sizes(self.functions)

    def confirm(self, suspects: Sequence[Diagnostic], unbalanced: bool) -> Tried:
        """Which suspicions some launch shows, and with `unbalanced` what else shows that flags do not balance; what
        else goes wrong, where none shows."""
        found: dict[int, Diagnostic] = {}
        others: dict[str, Diagnostic] = {}
        for replayed in self._replays(MOST_LAUNCHES, MOST_EFFORT):
            for shown in replayed.shown if not replayed.doubts else ():
                meant = [number for number, each in enumerate(suspects) if _is_it(each, shown)]
                number = next((number for number in meant if number not in found), None)
                if number is not None and shown.certain and self._shows_at_all_sizes(suspects[number], replayed.launch):
                    found[number] = self._told(suspects[number], shown, replayed.launch)
                elif not meant and shown.certain and (shown.kind in PROTOCOL or not self._decide_bytes):
                    others.setdefault(shown.kind, self._told(shown.diagnostic, shown, replayed.launch))
            if len(found) == len(suspects) and (others or not unbalanced):
                break
        unshown = [each for number, each in enumerate(suspects) if number not in found]
        beside = [each for each in others.values() if not found or (unbalanced and each.kind in PROTOCOL)]
        shown = (*(found[number] for number in sorted(found)), *beside)
        return Tried(shown, tuple(map(_doubted, unshown)))

    def _shows_at_all_sizes(self, suspect: Diagnostic, launch: ReplayLaunch) -> bool:
        """Whether a race shows with small and with large strides and lengths: one that does with some only speaks of
        these. What does not come to an end says nothing; between blocks there may be other reasons for distances."""
        for size in (SMALL, LARGE) if self._sizes and suspect.kind == "race" else ():
            scalars = tuple(size if at in self._sizes else each for at, each in enumerate(launch.scalars))
            replayed = self._replayer.replay(replace(launch, scalars=scalars), MOST_EFFORT)
            is_told = not replayed.incomplete or launch.blocks > 1
            if is_told and not any(_is_it(suspect, shown) for shown in replayed.shown):
                return False
        return True

    def contradict(self) -> Diagnostic | None:
        """A fault in a launch of a kernel that is proven: then the proof is not right."""
        for replayed in self._replays(FEW_LAUNCHES, FEW_EFFORT):
            for shown in replayed.shown if not replayed.doubts else ():
                if shown.certain:
                    return self._told(shown.diagnostic, shown, replayed.launch)
        return None

    def between_blocks(self) -> Diagnostic | None:
        """Bytes that two blocks touch in no order, in a kernel that tells its blocks apart: one that does not is meant
        for one. What they tell each other by words is not followed."""
        for blocks in GRIDS if any(isinstance(op, GetBlockIdx) for op in reached(*self.functions)) else ():
            for replayed in self._replays(FEW_LAUNCHES, FEW_EFFORT, blocks):
                sure = [shown for shown in replayed.shown if shown.certain]
                if replayed.doubts or replayed.incomplete or not all(shown.is_between_blocks for shown in sure):
                    continue  # arguments with which a block alone goes wrong make no sense
                for shown in sure:
                    if self._shows_at_all_sizes(shown.diagnostic, replayed.launch):
                        return self._told(shown.diagnostic, shown, replayed.launch)
        return None

    def inevitable(self) -> Diagnostic | None:
        """Findings that flags or signals do not balance in any launch: then it does not matter that the analysis cannot
        follow them.
        """
        found: Diagnostic | None = None
        for replayed in self._replays(FEW_LAUNCHES, MOST_EFFORT):
            wrong = next((each for each in replayed.shown if each.kind in PROTOCOL and each.certain), None)
            if wrong is None or replayed.doubts:
                return None
            found = found or self._told(wrong.diagnostic, wrong, replayed.launch)
        return found

    def _replays(self, most: int, effort: int, blocks: int = 1) -> Iterator[Replayed]:
        for launch in launches(self.functions, most):
            replayed = self._replayer.replay(replace(launch, blocks=blocks), effort)
            yield replayed
            effort -= replayed.effort
            if effort <= 0:
                return

    def _told(self, suspect: Diagnostic, shown: Shown, launch: ReplayLaunch) -> Diagnostic:
        """A suspicion with what it takes to see it; where another place shows it, that one."""
        told = suspect if _is_there(suspect, shown) else shown.diagnostic
        return replace(told, notes=(*self._when(shown), *self._with(launch)))

    def _when(self, shown: Shown) -> Iterator[str]:
        most: dict[Operation, int] = {}
        for trail in shown.trails:
            for op, turn in trail:
                most[op] = max(most.get(op, 0), turn)
        for op, turn in most.items():
            place = self.module.parsed.location(op)
            line = place.shown.line if place is not None else "?"
            if isinstance(op, If):
                yield f"it shows when the branch at line {line} is {'not ' * turn}taken"
            else:
                yield f"it shows when the loop at line {line} runs {turn + 1} time{'s' * (turn > 0)}"

    def _with(self, launch: ReplayLaunch) -> Iterator[str]:
        longest = max((function.body.block.args for function in self.functions), key=len)
        named = zip(longest, launch.scalars, strict=True)
        given = [f"%{name_of(self.module.parsed, value)} = {number}" for value, number in named if number is not None]
        given += [f"a grid of {launch.blocks}"] if launch.blocks > 1 else []
        if given:
            yield f"replayed with {' and '.join([', '.join(given[:-1]), given[-1]] if given[1:] else given)}"


def _is_it(suspect: Diagnostic, shown: Shown) -> bool:
    """Whether a replay shows what was suspected."""
    if suspect.kind in STUCK:
        return shown.kind in STUCK
    if suspect.kind != shown.kind:
        return False
    if suspect.kind in ("undrained", "semaphore-overflow"):
        return True
    if suspect.kind == "race":
        return {suspect.location, *(related.location for related in suspect.related)} == set(shown.places)
    return _is_there(suspect, shown)


def _is_there(suspect: Diagnostic, shown: Shown) -> bool:
    """A set that comes too early has to do with the one before, and is not that one."""
    places = shown.places[:1] if suspect.kind == "double-set" else shown.places
    return suspect.location in places


def _doubted(suspect: Diagnostic) -> Diagnostic:
    """A suspicion that did not show."""
    return replace(suspect, severity="warning", notes=(NOT_SHOWN,))
