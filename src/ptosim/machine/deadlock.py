"""Deadlocks: the pipes and scalar units that stand, the set or notice that would release each, and why it does not
come.

The analysis is plain data (`Deadlock`), which a check turns into findings; `diagnostics` words it. A blocked head
depends on the heads that hold back its release. Heads that depend on each other in a circle are a deadlock; a wait that
nothing queued and nothing reachable will ever release is unmatched; every other head only follows from one of these
roots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptosim.diagnostics import Diagnostic, PTOError, Related
from ptosim.effects.names import Pipe
from ptosim.machine.dependence_cycles import bottom_components, reaching
from ptosim.machine.entry import Entry, EntryKind, Key, Site
from ptosim.machine.queue import PipeQueue
from ptosim.machine.sync import DONE, QUEUE_LIMIT, SyncCounter, buffer_word, unit_word
from ptosim.machine.unit_flags import unit_key, unit_wait_message

if TYPE_CHECKING:
    from ptosim.machine.core import Core
    from ptosim.machine.signal import WatchedWords

Reachable = Callable[["Core", Key], bool]

_POLLED = Key("signal", 0, "a word in GM")
SHOWN = 20  # lines of notes; a grid may have thousands of blocked heads
NAMED = 8  # cores in a line


@dataclass(frozen=True, slots=True)
class Release:
    """The release of a blocked head: a set or release that is queued, or one that a stopped SU would still
    issue."""

    entry: Entry | None  # None: not issued yet
    core: Core
    pipe: Pipe  # where it is queued; S where it is not issued yet
    behind: tuple[int, ...]  # the heads, by position in `Deadlock.heads`, that hold it back


@dataclass(frozen=True, slots=True)
class Blocked:
    """A pipe, or the scalar unit (pipe S), and the instruction it stands at."""

    core: Core
    pipe: Pipe
    entry: Entry
    key: Key | None
    counter: int | None  # the count it waits on, where there is one
    full: PipeQueue | None  # the SU stands because this queue is full
    unmatched: bool  # one of the things it needs will never come
    releases: tuple[Release, ...]
    missing: tuple[Core, ...] = ()  # the cores that will never come where all must meet


@dataclass(frozen=True, slots=True)
class Root:
    """One cause: a circle, in the order of dependence, or a single unmatched wait; and what else stands because of
    it."""

    kind: str  # "deadlock" or "unmatched-wait"; who looks again and again does not wait, and is a deadlock
    heads: tuple[Blocked, ...]
    followers: tuple[Blocked, ...]


@dataclass(frozen=True, slots=True)
class Deadlock:
    heads: tuple[Blocked, ...]
    roots: tuple[Root, ...]

    def error(self) -> PTOError:
        return PTOError(*diagnostics(self))


def analyse(cores: list[Core], reachable: Reachable | None) -> Deadlock:
    """Look at a machine in which no pipe and no scalar unit can go on."""
    places = {place: position for position, place in enumerate(_places(cores))}
    search = _Search(cores, places, reachable or (lambda core, key: False))
    heads = tuple(search.head(core, pipe) for core, pipe in places)
    edges = [[] if head.unmatched else _behind(head) for head in heads]
    roots: list[Root] = []
    claimed: set[int] = set()
    for component in bottom_components(edges):
        claimed.update(component)
        followers = [node for node in reaching(edges, component) if node not in claimed]
        claimed.update(followers)
        circle = _from_a_wait([heads[node] for node in component])
        is_unmatched = circle[0].unmatched and circle[0].entry.kind is not EntryKind.PASS
        kind = "unmatched-wait" if is_unmatched else "deadlock"
        roots.append(Root(kind, tuple(circle), tuple(heads[node] for node in followers)))
    return Deadlock(heads, tuple(roots))


def _from_a_wait(circle: list[Blocked]) -> list[Blocked]:
    """The same circle from where something is waited for: a barrier, or a queue that is full, only holds the rest."""
    start = next((place for place, head in enumerate(circle) if head.key and not head.full), 0)
    return circle[start:] + circle[:start]


def _places(cores: list[Core]) -> Iterator[tuple[Core, Pipe]]:
    """Everything that stands: a scalar unit that has returned does not."""
    for core in cores:
        if core.waiting and core.waiting.kind is not EntryKind.DRAIN:
            yield core, Pipe.S
        for pipe, queue in core.queues.items():
            if queue.entries:
                yield core, pipe


def _behind(head: Blocked) -> list[int]:
    return sorted({position for release in head.releases for position in release.behind})


class _Search:
    """Finds, for each head, what would release it."""

    def __init__(self, cores: list[Core], places: dict[tuple[Core, Pipe], int], reachable: Reachable) -> None:
        self.cores = cores
        self.places = places
        self.reachable = reachable

    def head(self, core: Core, pipe: Pipe) -> Blocked:
        entry, full = (core.waiting, core.full) if pipe is Pipe.S else (core.queues[pipe].entries[0], None)
        assert entry is not None
        counter: int | None = None
        missing: list[Core] = []
        key = entry.key
        if full:
            groups = [[Release(None, core, full.pipe, self._heads(core, [full.pipe]))]]
        elif entry.kind is EntryKind.WAIT:
            lacking = [one for one in entry.counters if one.value == 0]
            needed = [(one, setter) for one in lacking for setter in _setting_cores(one, core)]
            groups = [self._setters(one, setter) for one, setter in needed]
            missing = [one[1] for one, group in zip(needed, groups, strict=True) if one[0].rendezvous and not group]
            counter = 0
            key = lacking[0].key
        elif entry.kind is EntryKind.GET:
            groups = [self._releases(core, entry)]
        elif entry.unit is not None:
            key = unit_key(entry.unit)
            groups = [self._makers(core, key)]
        elif entry.watched:
            key = _signal_key(core, entry.watched)
            groups = [self._writers(core, key)]
        elif entry.kind is EntryKind.PASS:
            key = _POLLED
            groups = [self._writers(core, key)]
        else:
            groups = [self._drains(core, entry)]
        releases = tuple(release for group in groups for release in group)
        unmatched = not groups or not all(groups)
        return Blocked(core, pipe, entry, key, counter, full, unmatched, releases, tuple(missing))

    def _heads(self, core: Core, pipes: list[Pipe]) -> tuple[int, ...]:
        return tuple(self.places[core, pipe] for pipe in pipes if (core, pipe) in self.places)

    def _setters(self, counter: SyncCounter, core: Core) -> list[Release]:
        """Queued sets of a counter on one core; where there is none, the core's SU if it may still issue one."""
        queued = list(self._queued(core, lambda entry: _sets(entry, counter)))
        if not queued and (core, Pipe.S) in self.places and self.reachable(core, counter.key):
            return [Release(None, core, Pipe.S, self._heads(core, [Pipe.S]))]
        return queued

    def _writers(self, waiting: Core, key: Key) -> list[Release]:
        """The scalar units that may still write a word: they stand somewhere, or their launch has not begun. A
        core that polls does not change it by going on."""
        found: list[Release] = []
        polls = waiting.waiting is not None and waiting.waiting.kind is EntryKind.PASS
        for core in self.cores:
            if polls and core is waiting:
                continue
            if (core, Pipe.S) in self.places:
                behind = self._heads(core, [Pipe.S])
            elif core.started:
                continue
            else:
                late = {earlier for earlier in core.progress.before if earlier.left}
                behind = tuple(position for (other, _), position in self.places.items() if other.progress in late)
            if self.reachable(core, key):
                found.append(Release(None, core, Pipe.S, behind))
        return found

    def _makers(self, core: Core, key: Key) -> list[Release]:
        """Queued products or stores that leave a tile as it is waited for; where there is none, the scalar unit if it
        may still issue one."""

        def wanted(entry: Entry) -> bool:
            unit = entry.unit
            return unit is not None and (unit.word, unit_word(unit.address)) == (key.destination, unit_word(key.id))

        queued = list(self._queued(core, wanted))
        if not queued and (core, Pipe.S) in self.places and self.reachable(core, key):
            return [Release(None, core, Pipe.S, self._heads(core, [Pipe.S]))]
        return queued

    def _releases(self, core: Core, get: Entry) -> list[Release]:
        """The releases that a get waits for: they have been issued, so all of them are queued."""
        assert get.key is not None
        buffer = get.key.id
        late = {word for word, needed in get.snapshot if core.words[word] < needed}

        def wanted(entry: Entry) -> bool:
            return (
                entry.kind is EntryKind.RELEASE
                and entry.key == get.key
                and buffer_word(DONE, entry.pipe, buffer) in late
            )

        return list(self._queued(core, wanted))

    def _queued(self, core: Core, wanted: Callable[[Entry], bool]) -> Iterator[Release]:
        """On each pipe of a core the first such set or release that has been issued and has not happened."""
        for pipe, queue in core.queues.items():
            reached = next(filter(wanted, queue.unended.values()), None)
            waiting = next(filter(wanted, queue.entries), None)
            if reached:
                yield Release(reached, core, pipe, self._heads(core, _needed(queue.unended.values())))
            elif waiting:
                yield Release(waiting, core, pipe, self._heads(core, [pipe]))
        for marker in filter(wanted, core.markers):
            yield Release(marker, core, Pipe.S, self._heads(core, _needed([marker])))

    def _drains(self, core: Core, entry: Entry) -> list[Release]:
        """The obstacles of a barrier: pipes that are not empty, and markers that others hold back."""
        pipes = [entry.pipe] if entry.pipe in core.queues else list(core.queues)
        found: list[Release] = []
        for pipe in pipes:
            queue = core.queues[pipe]
            held = _needed(queue.unended.values())
            if queue.entries and queue.entries[0] is not entry:
                held.append(pipe)
            if held:
                found.append(Release(None, core, pipe, self._heads(core, held)))
        return found


def _setting_cores(counter: SyncCounter, waiting: Core) -> list[Core]:
    """The cores each of which must still set the counter."""
    if counter.rendezvous:
        return counter.rendezvous.absent
    if counter.key.mechanism in ("flag", "token"):
        return [waiting]
    setter = waiting.cluster.member(counter.key.source)
    return [setter] if setter else []


def _needed(markers: Iterable[Entry]) -> list[Pipe]:
    """The pipes that have not got as far as these markers need."""
    needs = [needed for marker in markers for needed in marker.needs]
    return [needed.pipe for needed in needs if needed.n >= needed.core.queues[needed.pipe].prefix]


def _sets(entry: Entry, counter: SyncCounter) -> bool:
    if entry.kind is not EntryKind.SET:
        return False
    return entry.rendezvous is counter.rendezvous if counter.rendezvous else counter in entry.counters


# --- in words ---------------------------------------------------------------------------------------------------------


def diagnostics(deadlock: Deadlock) -> list[Diagnostic]:
    """One per root: the circle or the unmatched wait, then what stands because of it, each with what would release
    it."""
    return [_diagnostic(deadlock, root) for root in deadlock.roots]


def _diagnostic(deadlock: Deadlock, root: Root) -> Diagnostic:
    first = root.heads[0]
    notes = [describe(deadlock, head) for head in (*root.heads, *root.followers)]
    notes += [note for head in root.heads if head.entry.watched for note in _received(head)]
    if len(notes) > SHOWN:
        notes[SHOWN:] = [f"and {len(notes) - SHOWN} more"]
    return Diagnostic(
        root.kind,
        "error",
        _message(root),
        first.entry.site.location,
        label=f"{first.pipe} of {first.core.name} stands here",
        related=tuple(
            Related(head.entry.site.location, f"{head.pipe} of {head.core.name} stands here")
            for head in root.heads[1:SHOWN]
            if head.entry.site.location
        ),
        notes=tuple(notes),
        core=first.core.name,
        pipe=str(first.pipe),
        block=first.core.block,
        loops=first.entry.loops,
    )


def _message(root: Root) -> str:
    first = root.heads[0]
    if first.unmatched and first.entry.unit is not None and first.key is not None:
        return f"{first.pipe} {unit_wait_message(first.key)}"
    if first.unmatched and first.entry.watched:
        return f"{first.pipe} {_condition(first)}, and nothing is left that would notify it"
    if first.missing:
        return f"{first.pipe} waits for {first.key}, and {_names_of(first.missing)} will not come"
    if first.unmatched:
        return f"{first.pipe} waits for {first.key}, and nothing is left that would set it"
    if len(root.heads) == 1:
        return f"{first.pipe} waits for something that comes only after it"
    names = [f"{head.core.name} {head.pipe}" for head in root.heads]
    return f"{_named(names, SHOWN)} wait for each other"


def describe(deadlock: Deadlock, head: Blocked) -> str:
    """One blocked head: its place, its count, and the missing release."""
    if head.full:
        what = f"the queue of {head.full.pipe} is full ({QUEUE_LIMIT} entries)"
    elif head.entry.watched:
        what = _condition(head)
    elif head.entry.kind is EntryKind.PASS:
        what = f"looks at {head.key} again and again"
    elif head.key is None:
        what = f"waits until {'all pipes are' if head.entry.pipe is Pipe.ALL else f'{head.pipe} is'} empty"
    elif head.entry.unit is not None:
        what = f"waits until {head.key}"
    elif head.counter is None:
        what = f"waits for the release of {head.key}"
    else:
        what = f"waits for {head.key}, count {head.counter}"
    if head.missing:
        cause = f"{_names_of(head.missing)} will not come"
    elif head.unmatched:
        cause = "nothing that is queued or can still be reached sets it"
    else:
        cause = "; ".join(_causes(deadlock, head))
    return f"{head.core.name} {head.pipe}: {_written(head.entry.site)}: {what}: {cause}"


def _condition(head: Blocked) -> str:
    """The condition of a scalar unit that watches words in GM, and their values."""
    watched = head.entry.watched
    assert watched is not None and head.key is not None
    position = watched.failing or 0
    return f"waits until {head.key} {watched}; it is {watched.words.read(position)}"


def _received(head: Blocked) -> Iterator[str]:
    """The notifications of the word, or of the same word of another rank instead."""
    watched, signals = head.entry.watched, head.core.signals
    assert watched is not None
    address = watched.words.addresses[watched.failing or 0]
    count = signals.received.get(address, 0)
    yield f"{head.core.regions.word(address)} was notified {'once' if count == 1 else f'{count} times'}"
    for other, times in signals.copies(address):
        yield f"{head.core.regions.word(other)} was notified {'once' if times == 1 else f'{times} times'}"


def _signal_key(core: Core, watched: WatchedWords) -> Key:
    """The first word that does not satisfy its wait."""
    address = watched.words.addresses[watched.failing or 0]
    return Key("signal", address, core.regions.word(address))


def _causes(deadlock: Deadlock, head: Blocked) -> Iterator[str]:
    """The obstacle of each release. Cores that stand at one place are named together, and of many the first."""
    cores: dict[str, list[str]] = {}
    for release in head.releases:
        behind = ", ".join(dict.fromkeys(_written(deadlock.heads[position].entry.site) for position in release.behind))
        if release.entry:
            where = f"queued on {release.core.name} {release.pipe}" if release.pipe is not Pipe.S else "pending"
            yield f"{_written(release.entry.site)} is {where} behind {behind}"
        elif release.pipe is Pipe.S:
            cores.setdefault(behind, []).append(release.core.name)
        else:
            yield f"{release.pipe} stands at {behind}"
    for behind, names in cores.items():
        does = "may write" if head.entry.watched else "would set"  # a word is any that is written behind
        yield f"{_named(names, NAMED)} {does} it after {behind}"


def _names_of(cores: Iterable[Core]) -> str:
    return _named([core.name for core in cores], NAMED)


def _named(names: list[str], most: int) -> str:
    """The first of many, and their number."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _written(site: Site) -> str:
    """An instruction as it stands in the text."""
    return f"{site.title} (line {site.line})" if site.location else site.title
