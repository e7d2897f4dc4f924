"""Remarks that an editor shows between the words: where tiles lie, inserted synchronisation, cycles of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from ptosim.diagnostics import PTOError
from ptosim.effects.sync import BARRIER, SIGNALS, signalling
from ptosim.home.editor.document import Document
from ptosim.language.operation import PTOOperation

_INSERTED = signalling("flag", "buffer") | {BARRIER}


@dataclass(frozen=True)
class Remark:
    """Words at an offset, and what they mean."""

    offset: int
    text: str
    said: str


def remarks(document: Document) -> Iterator[Remark]:
    """The remarks on the whole text, in its order."""
    found = [*_addresses(document), *_inserted(document), *_cycles(document)]
    yield from sorted(found, key=lambda remark: remark.offset)


def _addresses(document: Document) -> Iterator[Remark]:
    defined = {(definition.token.text, _line(document, definition.token.start)): definition.token
               for definition in document.names.by_token.values()}  # fmt: skip
    for plan in document.plans:
        for tile in plan.tiles:
            token = defined.get((tile.name, tile.line))
            if token is not None and tile.address is not None:
                said = f"{tile.size} bytes, in use in lines {tile.first} to {tile.last}"
                yield Remark(token.end, f"{tile.space} {tile.address:#x}", said)


def _line(document: Document, offset: int) -> int:
    return document.text.position(offset)[0] + 1


def _inserted(document: Document) -> Iterator[Remark]:
    """At the ends of lines: what order needs there that the text does not say."""
    if document.module is None:
        return
    try:
        parsed = document.module.executable.parsed
    except PTOError:
        return
    by_line: dict[int, dict[str, None]] = {}
    for op in parsed.operations:
        if op.name in _INSERTED and parsed.origin(op).name not in _INSERTED:
            place = parsed.location(op)
            if place is not None and place.in_text.file == document.name:
                by_line.setdefault(place.in_text.line, {})[_named(op)] = None
    for line, named in sorted(by_line.items()):
        end = document.text.starts[line - 1] + len(document.text.line(line - 1))
        yield Remark(end, ", ".join(named), "order that is inserted for this line when the kernel is loaded")


def _named(op: Operation) -> str:
    words = [str(word) for role in ("source", "destination", "event", "pipe") if (word := _word(op, role))]
    kind = SIGNALS[op.name].half if op.name in SIGNALS else "barrier"
    pipes = " → ".join(word.removeprefix("PIPE_") for word in words if word.startswith("PIPE_"))
    return " ".join([str(kind), pipes, *(word.removeprefix("EVENT_ID") for word in words if word[:5] == "EVENT")])


def _word(op: Operation, role: str) -> str | None:
    return op.word(role) if isinstance(op, PTOOperation) else None


def _cycles(document: Document) -> Iterator[Remark]:
    for each in document.cycles:
        if each.line <= len(document.text.starts):
            end = document.text.starts[each.line - 1] + len(document.text.line(each.line - 1))
            yield Remark(
                end, f"{each.busy} cycles", f"{each.critical} of them on the critical path, in the last profile"
            )
