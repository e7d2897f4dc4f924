"""Comments of a text, put into the text that its operations are printed as: each stays with the operation beside it.

One behind an operation, or behind the brace that opens a region, stays on its line; one with lines of its own stands
before the operation that follows it, or behind the last one of its region. None is lost: one inside of an operation
stands before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Operation

from ptosim.diagnostics import Source
from ptosim.language.text.location_forms import Position

Stretch = tuple[int, int]
"""The start and end of an operation in the printed text."""

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|(//[^\n]*)')


@dataclass
class _Node:
    """An operation in both texts, and those inside of it; the outermost is the whole file."""

    start: int
    end: int
    printed: Stretch
    inner: list[_Node] = field(default_factory=list["_Node"])
    starts: list[int] = field(default_factory=list[int])


@dataclass
class _Kept:
    """Comments by the line of the printed text that they go to."""

    before: dict[int, list[str]] = field(default_factory=dict[int, "list[str]"])
    behind: dict[int, list[str]] = field(default_factory=dict[int, "list[str]"])
    at_the_end: dict[int, str] = field(default_factory=dict[int, str])


def with_comments(
    text: str, positions: Mapping[Operation, Position], source: str, printed: Mapping[Operation, Stretch]
) -> str:
    """`text` with the comments of `source`; `printed`: where each operation stands in it."""
    comments = [found for found in _COMMENT.finditer(source) if found[1]]
    if not comments:
        return text
    root = _tree(positions, len(source), printed, len(text))
    lines, kept = Source("", text), _Kept()
    for found in comments:
        _keep(found.start(), found[1].rstrip(), source, root, lines, kept)
    return "\n".join(_lines(text.split("\n"), kept))


def _lines(lines: list[str], kept: _Kept) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        indent = line[: len(line) - len(line.lstrip())]
        yield from (indent + comment for comment in kept.before.get(number, ()))
        yield f"{line}  {kept.at_the_end[number]}" if number in kept.at_the_end else line
        yield from (indent + comment for comment in kept.behind.get(number, ()))


def _tree(
    positions: Mapping[Operation, Position], size: int, printed: Mapping[Operation, Stretch], length: int
) -> _Node:
    """The operations as a tree by place. Among several at one place the outermost counts: left-out text stands where
    its parent does.
    """
    root = _Node(-1, size + 1, (0, length))
    path, seen = [root], set[int]()
    places = [(positions[op].start, -positions[op].end, op) for op in printed if op in positions]
    for start, end, op in sorted(places, key=lambda place: place[:2]):
        if start in seen:
            continue
        seen.add(start)
        while path[-1].end < -end:
            path.pop()
        node = _Node(start, -end, printed[op])
        path[-1].inner.append(node)
        path[-1].starts.append(start)
        path.append(node)
    return root


def _keep(at: int, comment: str, source: str, root: _Node, lines: Source, kept: _Kept) -> None:
    around, last, following = root, None, None
    while True:
        number = bisect_right(around.starts, at)
        last = around.inner[number - 1] if number else None
        following = around.inner[number] if number < len(around.inner) else None
        if last is None or last.end <= at:
            break
        around = last
    line_start = source.rfind("\n", 0, at) + 1
    is_beside = bool(source[line_start:at].strip())
    first = lines.position(following.printed[0])[0] if following else 0
    if last is not None and is_beside and _is_blank(source[max(line_start, last.end) : at]) and last.end > line_start:
        _say(kept.at_the_end, lines.position(last.printed[1] - 1)[0], comment)
    elif following is not None and is_beside and first > 1 and _is_blank(source[at : following.start]):
        _say(kept.at_the_end, first - 1, comment)
    elif following is not None and _is_blank(source[at : following.start]):
        kept.before.setdefault(first, []).append(comment)
    elif last is not None and _is_blank(source[last.end : at]):
        kept.behind.setdefault(lines.position(last.printed[1] - 1)[0], []).append(comment)
    else:
        place = around.printed[0] if around is not root or following is None else following.printed[0]
        kept.before.setdefault(lines.position(place)[0], []).append(comment)


def _say(said: dict[int, str], line: int, comment: str) -> None:
    said[line] = f"{said[line]} {comment}" if line in said else comment


def _is_blank(stretch: str) -> bool:
    """Whether nothing but comments stands there."""
    return not _COMMENT.sub(lambda found: "" if found[1] else found[0], stretch).strip()
