"""RecordEvents handed to a consumer: the flags that they stand for, put into the recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ptosim.cpp.forms import KIND_SIZES
from ptosim.cpp.recording import KernelRecording, RecordedBlock

AFTER, AFTER_ALL = "after\tI index", "after all\tI index"
IDS = 8
_MTE1_SOURCES = ("left", "right", "bias")


@dataclass(frozen=True)
class _Wish:
    """A consumer waits for what a producer, by its number, has done."""

    producer: int
    consumer: int
    everything: bool


def with_flags(recording: KernelRecording) -> KernelRecording:
    """The recording with a set behind each producer and a wait before each consumer."""
    wanted = {number for number, form in enumerate(recording.forms) if form in (AFTER, AFTER_ALL)}
    if not wanted:
        return recording
    forms = list(recording.forms)
    blocks = tuple(_ordered(block, forms, wanted) for block in recording.blocks)
    return replace(recording, forms=tuple(forms), blocks=blocks)


def pipe_of(form: str) -> str:
    """The pipe that an operation runs on."""
    whole, *kinds = form.split("\t")
    text = whole.rpartition("\n")[2]
    name = next((word for word in text.split() if word.startswith("pto.")), "")
    places = [kind.split(" ")[1] for kind in kinds if kind.startswith("T ")]
    if name in ("pto.tload", "pto.tprefetch"):
        return "MTE2"
    if name == "pto.tstore":
        return "FIX" if places[0] == "acc" else "MTE3"
    if name.startswith(("pto.tmatmul", "pto.tgemv")):
        return "M"
    if name in ("pto.tci", "pto.tgetval", "pto.tsetval", "pto.tget_scale_addr", "pto.tprint"):
        return "S"
    if name in ("pto.tmov", "pto.textract", "pto.tinsert"):
        return _pipe_of_move(name, places)
    return "MTE2" if places[:1] == ["mat"] else "V"


def works_of(recording: KernelRecording, file: str) -> Iterator[tuple[str, int]]:
    """The pipe and the line of each different operation, as far as it stands in a file."""
    for block in recording.blocks:
        tokens: list[int] = block.tokens.tolist()
        for token in dict.fromkeys(tokens):
            form, place = recording.forms[token >> 32], recording.sites[token & 0xFFFFFFFF]
            if place is not None and form.startswith("pto.t"):
                yield from ((pipe_of(form), each.line) for each in (place, *place.calls) if each.file == file)


def _pipe_of_move(name: str, places: Sequence[str]) -> str:
    target, source = places[0], places[1]
    if source == "acc":
        return "FIX"
    if source == "mat":
        return "FIX" if target == "scaling" and name == "pto.tmov" else "MTE1"
    return "MTE3" if target == "mat" else "V"


def _ordered(block: RecordedBlock, forms: list[str], wanted: set[int]) -> RecordedBlock:
    numbers: list[int] = (block.tokens >> 32).tolist()
    sizes: list[int] = [sum(KIND_SIZES.get(kind[0], 1) for kind in form.split("\t")[1:]) for form in forms]
    values, pieces = block.values, list[tuple[float, int, list[int]]]()
    at: int = 0
    wishes, pending = list[_Wish](), list[tuple[int, bool]]()
    for position, (number, token) in enumerate(zip(numbers, block.tokens.tolist(), strict=True)):
        own: list[int] = values[at : at + sizes[number]].tolist()
        at += sizes[number]
        if number in wanted:
            pending.append((int(own[0]), forms[number] == AFTER_ALL))
            continue
        wishes += [_Wish(producer, position, everything) for producer, everything in pending]
        pending = []
        pieces.append((position, token, own))
    pieces += _flags(wishes, numbers, block.tokens.tolist(), forms)
    pieces.sort(key=lambda piece: piece[0])
    tokens = np.array([token for _, token, _ in pieces], np.int64)
    return RecordedBlock(block.number, tokens, np.array([number for _, _, own in pieces for number in own], np.int64))


def _flags(
    wishes: Sequence[_Wish], numbers: Sequence[int], tokens: Sequence[int], forms: list[str]
) -> list[tuple[float, int, list[int]]]:
    """One set for a producer and a pipe that waits for it, and one wait, before the first consumer on that pipe."""
    counters, done, found = dict[tuple[str, str], int](), set[tuple[int, str]](), list[tuple[float, int, list[int]]]()
    for wish in wishes:
        if wish.producer < 0:
            continue
        source = pipe_of(forms[numbers[wish.producer]])
        target = "S" if wish.everything else pipe_of(forms[numbers[wish.consumer]])
        if source == target or (wish.producer, target) in done:
            continue
        done.add((wish.producer, target))
        id = counters.get((source, target), 0)
        counters[source, target] = (id + 1) % IDS
        for word, at, site in (
            ("set_flag", wish.producer + 0.5, wish.producer),
            ("wait_flag", wish.consumer - 0.5, wish.consumer),
        ):
            form = f"{word} {source} {target}\tI index"
            if form not in forms:
                forms.append(form)
            found.append((at, forms.index(form) << 32 | tokens[site] & 0xFFFFFFFF, [id]))
    return found
