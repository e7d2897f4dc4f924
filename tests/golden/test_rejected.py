"""Every refusal that the documents list: a PTOError of a fitting kind that points at the faulty line."""

from collections.abc import Callable

import pytest

from golden import refused_lines as refused
from golden.program import rejection
from golden.rejected import expanded, in_cube, in_function, in_scope

KINDS = {"syntax", "invalid", "unsupported", "id-range", "wrong-pipe", "wrong-target"}

CASES: list[tuple[Callable[[str], str], str]] = [
    *((in_scope, line) for line in refused.PREDICATES),
    *((in_scope, line) for line in refused.ARITHMETIC),
    *((in_scope, line) for line in refused.CONVERSION),
    *((in_scope, line) for line in refused.REDUCTION_COMPARE_REARRANGE),
    *((in_scope, line) for line in refused.SFU),
    *((in_function, line) for line in refused.SFU_OUTSIDE),
    *((in_function, line) for line in refused.SCALAR_SYNC_DMA),
    *((in_cube, line) for line in refused.CUBE),
    *((in_cube, line) for line in refused.FIXPIPE),
]


@pytest.mark.parametrize("build, written", CASES, ids=lambda value: value[:60] if isinstance(value, str) else "")
def test_refusal(build: Callable[[str], str], written: str) -> None:
    pieces = written.split(" ¦ ")
    marked = [number for number, piece in enumerate(pieces) if piece.startswith("! ")]
    blamed = marked[0] if marked else len(pieces) - 1
    text = build("\n      ".join(piece.removeprefix("! ") for piece in pieces))
    first = expanded(pieces[0].removeprefix("! "))
    start = next(number for number, line in reversed(list(enumerate(text.split("\n"), 1))) if line.strip() == first)
    found = rejection(text).diagnostics[0]
    assert found.kind in KINDS and found.severity == "error"
    assert found.line == start + blamed, str(found)
    assert found.message
