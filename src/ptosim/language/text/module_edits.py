"""Edits that turn a text into another module: operations inserted, deleted and written anew.

What both have keeps its words, its comments and its place. Where the other module is built otherwise, so that edits of
single operations do not lead there, its canonical text is given, with the comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

from xdsl.ir import Block, Operation

from ptosim.language.edits import Edit, OperationPlace
from ptosim.language.micro.sync import RecordEvent, SetFlag, SetFlagDyn
from ptosim.language.text.edited_text import edited
from ptosim.language.text.kept_comments import Stretch, with_comments
from ptosim.language.text.parser import ParsedModule
from ptosim.language.text.printing import printed

_SETS = (SetFlag.name, SetFlagDyn.name, RecordEvent.name)


class Otherwise(Exception):
    """The modules differ in more than single operations."""


def rewritten(
    written: ParsedModule,
    made: ParsedModule,
    origins: Mapping[Operation, Operation],
    canonical: Callable[[str], str | None],
) -> str:
    """The text of one module edited to be another; `origins`: what operations of it are in the written one;
    `canonical`: a text in canonical form, None where it does not load."""
    text, stretches = printed(made)
    try:
        edits = _Difference(written, text, stretches, origins).edits(made.module)
        found = edited(written.source.text, edits).text
        if canonical(found) == text:
            return found
    except Otherwise:
        pass
    positions = {op: written.positions[origin] for op, origin in origins.items() if origin in written.positions}
    return with_comments(text, positions, written.source.text, stretches)


class _Difference:
    def __init__(
        self,
        written: ParsedModule,
        text: str,
        stretches: Mapping[Operation, Stretch],
        origins: Mapping[Operation, Operation],
    ) -> None:
        self.written = written
        self.text = text
        self.stretches = stretches
        self.origins = origins
        self.before, self.stretches_before = printed(written)

    def edits(self, made: Operation) -> list[Edit]:
        """In the order of the text."""
        old = self.origins[made]
        return list(self._same(old, made) if old in self.written.positions else self._inside(old, made))

    def _inside(self, old: Operation, new: Operation) -> Iterator[Edit]:
        blocks = [[block for region in op.regions for block in region.blocks] for op in (old, new)]
        if len(blocks[0]) != len(blocks[1]):
            raise Otherwise
        for was, now in zip(*blocks, strict=True):
            yield from self._block(was, now)

    def _block(self, old: Block, new: Block) -> Iterator[Edit]:
        kept = [op for op in new.ops if op in self.origins]
        left = {self.origins[op] for op in kept}
        rest = [op for op in old.ops if op in left]
        if [self.origins[op] for op in kept] != rest:  # moved, or from another block
            raise Otherwise
        yield from (Edit("at", self._place(op)) for op in old.ops if op not in left)
        waiting: list[Operation] = []
        last: Operation | None = None
        for op in new.ops:
            if op not in self.origins:
                waiting.append(op)
                continue
            following = self.origins[op]
            yield from self._added(waiting, last, following)
            waiting, last = [], following
            yield from self._same(following, op)
        yield from self._added(waiting, last, None)

    def _same(self, old: Operation, new: Operation) -> Iterator[Edit]:
        """Operations of both modules, perhaps with other operands."""
        was = self._heads(old, self.before, self.stretches_before)
        now = self._heads(new, self.text, self.stretches)
        if was[1:] != now[1:]:
            raise Otherwise
        if was != now and not new.regions:
            yield Edit("at", self._place(old), self._words(new))
        elif was != now:
            yield Edit("at", self._opening(old), now[0].removesuffix("{").rstrip())
        yield from self._inside(old, new)

    def _opening(self, op: Operation) -> OperationPlace:
        """The words of an operation up to the brace behind which its first region begins."""
        place, source = self._place(op), self.written.source
        first = next((each for region in op.regions for block in region.blocks for each in block.ops), None)
        if first is None or not self._is_written(first):
            raise Otherwise
        words = source.text[place.start : self.written.positions[first].start]
        while words and not words.endswith("{"):
            line = words[words.rfind("\n") + 1 :]
            words = words[: -len(line) or None].rstrip() if line.lstrip().startswith("//") else words[:-1]
        return OperationPlace(place.start, place.start + len(words.removesuffix("{").rstrip()), source)

    def _added(self, new: list[Operation], last: Operation | None, following: Operation | None) -> Iterator[Edit]:
        """Sets stand right behind what they follow, all else before what it precedes; comments stay between."""
        if following is not None and not self._is_written(following):
            following = None
        if new and last is None and following is None:
            raise Otherwise
        behind = list(takewhile(lambda op: op.name in _SETS or following is None, new)) if last is not None else []
        for op in behind:
            assert last is not None
            yield Edit("after", self._place(last), self._words(op))
        for op in new[len(behind) :]:
            assert following is not None
            yield Edit("before", self._place(following), self._words(op))

    def _is_written(self, op: Operation) -> bool:
        """Whether it has words of its own: the end of a region may be left out."""
        parent, positions = op.parent_op(), self.written.positions
        above = positions.get(parent) if parent is not None else None
        return op in positions and (above is None or positions[op].start != above.start)

    def _place(self, op: Operation) -> OperationPlace:
        if not self._is_written(op):
            raise Otherwise
        position = self.written.positions[op]
        return OperationPlace(position.start, position.end, self.written.source, op.parent_block())

    def _heads(self, op: Operation, text: str, stretches: Mapping[Operation, Stretch]) -> list[str]:
        """The words of an operation itself, without those inside of it: up to the first of these, and behind."""
        if op not in stretches:
            return []
        at, end = stretches[op]
        words: list[str] = []
        for inner in (each for region in op.regions for block in region.blocks for each in block.ops):
            if inner in stretches:
                words.append(text[at : stretches[inner][0]].strip())
                at = stretches[inner][1]
        words.append(text[at:end].strip())
        return [words[0], *filter(None, words[1:])]

    def _words(self, op: Operation) -> str:
        """The printed operation, its further lines without the indentation that they have there."""
        start, end = self.stretches[op]
        indent = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        return self.text[start:end].replace(f"\n{indent}", "\n")
