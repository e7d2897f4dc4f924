"""A profile for the terminal: the answer first, then where the time went, then what it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ptosim.report.figures_used import CAVEAT, WEAK, by_origin, idle_figures
from ptosim.report.tile_operations import guessed
from ptosim.report.time_accounts import PathStep, bound

if TYPE_CHECKING:
    from ptosim.report.profile import Profile
    from ptosim.report.saved_profile import SavedProfile

WIDTH = 100
"""Characters of a line, unless the terminal says otherwise."""
MOST = 10
"""Rows of a table."""


def text(profile: Profile, width: int) -> str:
    bar = 24 if width >= WIDTH else 12
    parts = [
        _answer(profile, width),
        table(("pipe", "busy", "", "waiting", "", "idle", "", ""), list(_pipes(profile, bar)), width),
        table(("copies", "bytes", "copies", "B/cycle", "while busy", "limit"), list(_transfers(profile)), width),
        table(RANK_HEADS, list(_ranks(profile)), width),
        table(("from", "to rank", "bytes", "copies", "GB/s", "limit", "busy", "delayed"), list(_links(profile)), width),
        table(("words", "line", "waits", "cycles", "skew", "mostly for"), list(_skews(profile)), width),
        table(("FIFO", "line", "from", "to", "entries", "slots in flight", "at most"), list(_fifos(profile)), width),
        table(("waits", "for", "line", "cycles", "times", "released at"), list(_waits(profile)), width),
        table(("critical path", "", "line", "cycles", "times"), list(_path(profile.critical_path)), width),
        table(("line", "critical", "busy", "waiting", "times", ""), list(_lines(profile)), width),
        table(("tile operation", "line", "times", "lanes used", "cycles", "of one"), list(_tiles(profile)), width),
        _advice(profile, width),
        _guesses(profile, width),
        origins((profile,), width),
        caveat(width),
    ]
    return "\n\n".join(part for part in parts if part)


def _advice(profile: Profile, width: int) -> str:
    lines = [f"{number}. {each}" for number, each in enumerate(profile.advice, 1)]
    indented = [
        part for line in lines for part in wrap(line, width - 2, initial_indent="  ", subsequent_indent="     ")
    ]
    return "\n".join(["advice, each tried by timing the run again:", *indented]) if lines else ""


def _answer(profile: Profile, width: int) -> str:
    recording = profile.recording
    blocks = f"{profile.grid} block{'s' * (profile.grid != 1)}"
    if profile.ranks:
        blocks += f" on {len(profile.ranks)} ranks"
    waves = -(-profile.grid // max(1, recording.hardware_cores))
    where = f" in {waves} waves" if waves > 1 else ""
    lines = [f"{profile.kernel} on {profile.target.name}: {cycles(profile.cycles)} for {blocks}{where}"]
    word, spent = bound(profile.bounds)
    lines.append(f"bound by {word}: {share(spent, profile.cycles)} of the critical path")
    if profile.links:
        lines.append(_bus(profile))
    if profile.least and profile.cycles > 1.2 * profile.least:
        ratio = profile.cycles / profile.least
        lines.append(
            f"the busiest pipe works {cycles(profile.least)}: perfect overlap would be {ratio:.1f} times faster at most"
        )
    return "\n".join(wrapped for line in lines for wrapped in wrap(line, width))


def _bus(profile: Profile) -> str:
    """Traffic over the links, and its rate for the collectives that send as much."""
    bus, ranks = max(time.bandwidth for time in profile.ranks.values()), len(profile.ranks)
    alone = bus * ranks / (ranks - 1)
    return (
        f"bus bandwidth {bus:.2f} GB/s: algorithm bandwidth {alone / 2:.2f} GB/s of an all-reduce, "
        f"{alone:.2f} GB/s of an all-gather, reduce-scatter or all-to-all"
    )


def _pipes(profile: Profile, bar: int) -> Iterator[Sequence[str]]:
    for name, time in profile.pipes.items():
        whole = max(1, time.total)
        busy = round(bar * time.busy / whole)
        waiting = min(bar - busy, round(bar * time.waiting / whole))
        yield (
            name,
            *(count(time.busy), share(time.busy, whole), count(time.waiting), share(time.waiting, whole)),
            *(count(time.idle), share(time.idle, whole), "█" * busy + "░" * waiting + "·" * (bar - busy - waiting)),
        )


def _transfers(profile: Profile) -> Iterator[Sequence[str]]:
    for transfer in profile.transfers:
        yield (
            transfer.path.replace("_", " to "),
            *(count(transfer.bytes), count(transfer.copies)),
            *(f"{transfer.achieved:.1f}", f"{transfer.rate:.1f}", f"{transfer.limit:.1f}"),
        )


RANK_HEADS = ("rank", "cycles", "compute", "communication", "exposed", "overlap", "sent", "received", "GB/s")


def _ranks(profile: Profile) -> Iterator[Sequence[str]]:
    for rank, time in list(profile.ranks.items())[:MOST]:
        yield (
            *(str(rank), count(time.cycles), count(time.compute), count(time.communication), count(time.exposed)),
            "" if time.overlap is None else share(time.overlap, 1),
            *(count(time.sent), count(time.received), f"{time.bandwidth:.2f}"),
        )


def _links(profile: Profile) -> Iterator[Sequence[str]]:
    for link in sorted(profile.links, key=lambda link: -link.busy)[:MOST]:
        yield (
            *(str(link.source), str(link.dest), count(link.bytes), count(link.copies)),
            *(f"{link.rate:.2f}", f"{link.limit:.1f}", count(link.busy), count(link.delayed)),
        )


def _skews(profile: Profile) -> Iterator[Sequence[str]]:
    for wait in profile.skews[:MOST] if profile.ranks else ():
        yield (
            *(wait.name, line_number(wait.line), count(wait.count), count(wait.waiting), count(wait.skew)),
            "" if wait.last is None else f"rank {wait.last}",
        )


def _fifos(profile: Profile) -> Iterator[Sequence[str]]:
    for fifo in profile.fifo_uses[:MOST]:
        yield (
            *(fifo.name, line_number(fifo.line), fifo.source, fifo.dest),
            *(count(fifo.entries), f"{fifo.mean:.1f}", count(fifo.most)),
        )


def _waits(profile: Profile) -> Iterator[Sequence[str]]:
    for waiting in profile.waiting[:MOST]:
        yield (
            *(waiting.pipe, waiting.cause, line_number(waiting.line)),
            *(count(waiting.cycles), count(waiting.count), line_number(waiting.set_line)),
        )


def _path(steps: Sequence[PathStep]) -> Iterator[Sequence[str]]:
    """The path, with its middle left out where it is long."""
    ends = MOST // 2 if len(steps) > MOST + 2 else len(steps)
    hidden = steps[ends:-ends]
    yield from map(_path_row, steps[:ends])
    if hidden:
        yield f"... {count(len(hidden))} steps", "", "", count(sum(step.cycles for step in hidden)), ""
        yield from map(_path_row, steps[-ends:])


def _path_row(step: PathStep) -> Sequence[str]:
    activity = "" if step.activity == "work" else f" ({step.activity})"
    times = f"x {step.count}" if step.count > 1 else ""
    return f"{step.core} {step.pipe}", step.name + activity, line_number(step.line), count(step.cycles), times


def _lines(profile: Profile) -> Iterator[Sequence[str]]:
    for entry in profile.lines[:MOST]:
        cycles = map(count, (entry.critical, entry.busy, entry.waiting))
        place = entry.location
        source = (place.source if place is not None else None) or profile.source
        text = " ".join(source.line(entry.line).split())
        line = f"{place.file}:{entry.line}" if place and place.file != profile.source.name else str(entry.line)
        yield line, *cycles, count(entry.count) if entry.count else "", text


def _tiles(profile: Profile) -> Iterator[Sequence[str]]:
    for each in profile.tile_operations[:MOST]:
        used = "" if each.lane_use is None else share(each.lane_use, 1)
        yield (
            each.name.removeprefix("pto."),
            line_number(each.line),
            count(each.count),
            used,
            count(each.cycles),
            each.sum,
        )


def _guesses(profile: Profile, width: int) -> str:
    names = ", ".join(name.removeprefix("pto.") for name in guessed(profile.tile_operations))
    if not names:
        return ""
    message = f"guessed: the cycles of {names}, priced by micro-instructions that {profile.target.name} does not have"
    return "\n".join(wrap(message, width, subsequent_indent="    "))


def caveat(width: int) -> str:
    return "\n".join(wrap(CAVEAT, width))


def origins(profiles: Sequence[Profile | SavedProfile], width: int) -> str:
    """Figures that the profiles rest on, together."""
    grouped: dict[str, dict[str, None]] = {}
    for profile in profiles:
        for origin, names in by_origin(profile.rests_on, profile.target).items():
            grouped.setdefault(origin, {}).update(dict.fromkeys(names))
    lines: list[str] = []
    for origin, names in sorted(grouped.items()):
        lines += wrap(
            f"rests on {origin} ({WEAK[origin]}): {', '.join(names)}",
            width,
            subsequent_indent="    ",
            break_long_words=False,
        )
    idle = [path for profile in profiles for path in idle_figures(profile.rests_on, profile.target)]
    if idle:
        lines += wrap(f"set by you, but not used: {', '.join(dict.fromkeys(idle))}", width, subsequent_indent="    ")
    return "\n".join(lines)


# --- tables -----------------------------------------------------------------------------------------------------------


_LEAST = 12
"""Characters that a column of text keeps."""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Columns as wide as they need to be; those of numbers stand right. Nothing where there are no rows.

    A last column of text is cut where it would go beyond the width.
    """
    if not rows:
        return ""
    columns = list(zip(*rows, strict=True))
    right = [all(_numeric(cell) for cell in column) for column in columns]
    widths = [max(map(len, (head, *column))) for head, column in zip(heads, columns, strict=True)]
    if not right[-1]:
        widths[-1] = min(widths[-1], max(_LEAST, width - sum(widths[:-1]) - 2 * len(widths[:-1])))
    return "\n".join(
        "  ".join(
            cell.rjust(room) if at_right else _cut(cell, room).ljust(room)
            for cell, room, at_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in (heads, *rows)
    )


def _cut(cell: str, room: int) -> str:
    return cell if len(cell) <= room else cell[: room - 3] + "..."


_NUMBER = re.compile(r"[x+ -]*[\d,.]*\d[\d,.]*[ %]*")


def _numeric(cell: str) -> bool:
    return not cell or _NUMBER.fullmatch(cell) is not None


def count(number: int) -> str:
    return f"{number:,}"


def cycles(number: int) -> str:
    """A number of cycles, in words."""
    return f"{count(number)} cycle{'s' * (number != 1)}"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def line_number(line: int | None) -> str:
    return "" if line is None else str(line)
