"""The result of a sweep in a few lines, and as a page: one file without external resources."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from ptosim.fleet.rows import columns

MOST_FAILURES = 200
MOST_SLOW = 20
MOST_SIDES = 60
"""Rows and columns of a heat map."""
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c1c1e;
  background: #fff }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } .wide { overflow-x: auto }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ccc; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere }
.map td { text-align: right; border: 1px solid #fff; font-variant-numeric: tabular-nums } .map { width: auto }
.bad { outline: 2px solid #9b1c1c; outline-offset: -2px } .map td { color: #111 }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161618 } th, td { border-color: #444 }
  .map td { border-color: #161618 } .bad { outline-color: #ff9c9c } }
@media print { body { margin: 0; max-width: none } }
"""


def summary(table: Any) -> str:
    """A few lines: how many cases, how they ended, the first failures."""
    statuses: Counter[str] = Counter(table.column("status").to_pylist())
    ok = sum(table.column("ok").to_pylist())
    said = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    lines = [f"{table.num_rows} cases: {ok} ok ({said})"]
    failures = _failures(table)
    for row in failures[:10]:
        lines.append(f"  {row['status']}: {row['message'] or ', '.join(row['kinds'])}")
        lines.append(f"    {row['repeat']}")
    if len(failures) > 10:
        lines.append(f"  and {len(failures) - 10} more")
    return "\n".join(lines)


def page(table: Any) -> str:
    """The page."""
    title = f"{table.num_rows} cases"
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>ptosim sweep: {title}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body><main><h1>Sweep: {title}</h1>",
        *_statuses(table),
        *_kernels(table),
        *_map(table),
        *_list("Failures", _failures(table), MOST_FAILURES),
        *_list("Slowest cases", _slowest(table), MOST_SLOW),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _statuses(table: Any) -> Iterator[str]:
    counts: Counter[str] = Counter(table.column("status").to_pylist())
    kinds = Counter(kind for found in table.column("kinds").to_pylist() for kind in set(found or ()))
    yield "<p>" + ", ".join(f"<strong>{count}</strong> {escape(name)}" for name, count in counts.most_common()) + "</p>"
    if kinds:
        yield (
            "<p>Kinds found: " + ", ".join(f"{escape(kind)} ({count})" for kind, count in kinds.most_common()) + "</p>"
        )


def _kernels(table: Any) -> Iterator[str]:
    """Kernels by cycles, with their findings and what bounds each."""
    names, cycles = table.column("kernel").to_pylist(), table.column("cycles").to_pylist()
    if len(set(names)) < 2:
        return
    found, messages = table.column("kinds").to_pylist(), table.column("message").to_pylist()
    of: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        of[name].append(index)
    ordered = sorted(of.items(), key=lambda each: -max((cycles[index] or 0 for index in each[1]), default=0))
    yield '<h2>Kernels</h2><div class="wide"><table><thead><tr><th>kernel</th><th class="number">cycles</th>'
    yield '<th class="number">cases</th><th>findings</th><th>says</th></tr></thead><tbody>'
    for name, indices in ordered[:1000]:
        most = max((cycles[index] or 0 for index in indices), default=0)
        kinds = Counter(kind for index in indices for kind in set(found[index] or ()))
        said = escape(", ".join(f"{kind} ({count})" for kind, count in kinds.items()) or "none")
        message = escape(next((messages[index] for index in indices if messages[index]), ""))
        yield f'<tr><td><code>{escape(name)}</code></td><td class="number">{most:,}</td>'
        yield f'<td class="number">{len(indices)}</td><td>{said}</td><td>{message}</td></tr>'
    yield "</tbody></table></div>"


def _map(table: Any) -> Iterator[str]:
    """The median of cycles, or of seconds, over the two names with most values; failures have a frame and a mark."""
    names = sorted(columns(table), key=lambda name: -len(set(table.column(name).to_pylist())))[:2]
    if len(names) < 2 or any(len(set(table.column(name).to_pylist())) < 2 for name in names):
        return
    across, down = names
    has_cycles = any(value is not None for value in table.column("cycles").to_pylist())
    measure = "cycles" if has_cycles else "seconds"
    cells: dict[tuple[Any, Any], list[float]] = defaultdict(list)
    failed: set[tuple[Any, Any]] = set()
    picked = (across, down, measure, "ok")
    for row in zip(*(table.column(name).to_pylist() for name in picked), strict=True):
        cells[row[0], row[1]].append(row[2] or 0)
        if not row[3]:
            failed.add((row[0], row[1]))
    medians = {place: sorted(values)[len(values) // 2] for place, values in cells.items()}
    least, most = min(medians.values()), max(medians.values())
    columns_ = sorted({place[0] for place in cells}, key=_order)[:MOST_SIDES]
    yield f"<h2>Median {measure}: {escape(across)} across, {escape(down)} down</h2>"
    yield "<p>Darker is more; a frame and ✗ mark a case that is not ok.</p>"
    yield '<div class="wide"><table class="map"><tr><th></th>'
    yield "".join(f'<th class="number">{escape(str(value))}</th>' for value in columns_) + "</tr>"
    for value in sorted({place[1] for place in cells}, key=_order)[:MOST_SIDES]:
        yield f'<tr><th class="number">{escape(str(value))}</th>'
        for other in columns_:
            yield _cell(medians.get((other, value)), least, most, (other, value) in failed, measure)
        yield "</tr>"
    yield "</table></div>"


def _cell(value: float | None, least: float, most: float, is_bad: bool, measure: str) -> str:
    if value is None:
        return "<td></td>"
    share = (value - least) / (most - least) if most > least else 0.0
    light = 96 - round(36 * share)  # black on the darkest of them has a contrast of 7 : 1
    shown = f"{value:,.0f}" if measure == "cycles" else f"{value:.2f}"
    mark, bad = (" ✗", ' class="bad"') if is_bad else ("", "")
    return f'<td{bad} style="background: hsl(205 60% {light}%)">{shown}{mark}</td>'


def _order(value: Any) -> tuple[int, Any]:
    return (0, value) if isinstance(value, int | float) else (1, str(value))


def _rows(table: Any, indices: Sequence[int]) -> list[dict[str, Any]]:
    return table.take(indices).to_pylist() if indices else []


def _failures(table: Any) -> list[dict[str, Any]]:
    wrong = [index for index, ok in enumerate(table.column("ok").to_pylist()) if not ok]
    return _rows(table, wrong[: MOST_FAILURES + 1])


def _slowest(table: Any) -> list[dict[str, Any]]:
    seconds = table.column("seconds").to_pylist()
    return _rows(table, sorted(range(len(seconds)), key=lambda index: -seconds[index])[:MOST_SLOW])


def _list(title: str, rows: Sequence[dict[str, Any]], most: int) -> Iterator[str]:
    if not rows:
        return
    more = f", the first {most}" if len(rows) > most else ""
    yield f'<h2>{title}{more}</h2><div class="wide"><table><thead><tr><th>status</th><th>says</th>'
    yield '<th class="number">cycles</th><th class="number">seconds</th><th>command</th></tr></thead><tbody>'
    for row in rows[:most]:
        cycles = "" if row["cycles"] is None else f"{row['cycles']:,}"
        says = escape(row["message"] or ", ".join(row["kinds"] or ()))
        yield f'<tr><td>{escape(row["status"])}</td><td>{says}</td><td class="number">{cycles}</td>'
        yield f'<td class="number">{row["seconds"]:.2f}</td><td><code>{escape(row["repeat"])}</code></td></tr>'
    yield "</tbody></table></div>"
