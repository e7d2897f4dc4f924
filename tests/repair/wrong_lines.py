"""Kernels with one line of synchronisation wrong: dropped, repeated, with another id, on the other side of its
neighbour, or the other way round."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sanitize.mutation import SYNC, renumbered

PARTNERS = (
    ("get_buf", "rls_buf"),
    ("set_intra_block", "wait_intra_block"),
    ("set_cross_core", "wait_flag_dev"),
    ("sync.set", "sync.wait"),
)
FENCES = {"VST_VLD": "VLD_VST", "VLD_VST": "VST_VLD"}


@dataclass(frozen=True)
class Wrong:
    """A text with one change; `line` is where it is."""

    how: str
    line: int
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.how} line {self.line}: {self.what.strip()}"


def wrong_lines(text: str) -> Iterator[Wrong]:
    """Every such text; some are no kernels at all, and some are as good as the original."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if not SYNC.match(line):
            continue
        before, behind = lines[:index], lines[index + 1 :]
        changed = {
            "drop": [],
            "repeat": [line, line],
            "renumber": [renumbered(line)],
            "reverse": [reversed_line(line)],
            "delay": [behind[0], line],
        }
        for how, now in changed.items():
            if None not in now:
                rest = behind[1:] if how == "delay" else behind
                yield Wrong(how, index + 1, line, "\n".join([*before, *filter(None, now), *rest]))
        if index and not SYNC.match(before[-1]):
            yield Wrong("hasten", index + 1, line, "\n".join([*before[:-1], line, before[-1], *behind]))


def reversed_line(line: str) -> str | None:
    """A flag with its pipes exchanged, anything else that has a partner as that partner."""
    code, comment, rest = line.partition("//")
    if re.search(r"_(flag|flag_dyn|event)\[", code):
        return re.sub(r"\[([^,]+), ([^,]+),", r"[\2, \1,", code) + comment + rest
    for pair in PARTNERS:
        for one, other in (pair, pair[::-1]):
            if f"pto.{one} " in code:
                return code.replace(f"pto.{one} ", f"pto.{other} ") + comment + rest
    for one, other in FENCES.items():
        if one in code:
            return code.replace(one, other) + comment + rest
    return None
