"""Accesses that leave their memory: a finding each, after which the check goes on, at no great expense."""

import pytest

from sanitize.kernels import ALL, MASK, check, kinds, load, order, scope, store, vlds, vsts

REGISTERS = 1024
"""So many registers of 256 bytes fill UB."""


def walk(first: int, last: int, body: str) -> str:
    """A scope whose loop counts registers of UB from `first` up to `last`."""
    return (
        f"    %first = arith.constant {first} : index\n    %last = arith.constant {last} : index\n"
        + load()
        + order("MTE2", "V")
        + scope(
            MASK
            + "      scf.for %i = %first to %last step %c1 {\n      %o = arith.muli %i, %c64 : index\n"
            + body
            + "      }\n"
        )
        + ALL
    )


@pytest.mark.parametrize(
    ("first", "last", "outside", "index"),
    [(0, REGISTERS + 6, 262144, REGISTERS), (-5, 3, -1280, -5), (REGISTERS + 9, REGISTERS + 12, 264448, 1033)],
    ids=["past the end", "from before the start", "beyond"],
)
def test_loads_that_walk_out_of_ub(first: int, last: int, outside: int, index: int) -> None:
    (found,) = check(walk(first, last, vlds(offset="%o"))).findings
    assert (found.kind, found.severity) == ("out-of-bounds", "error")
    assert f"the first byte outside is {outside}" in found.message
    assert found.loops == (index,)
    assert found.count == (last - max(first, REGISTERS) if first >= 0 else -first)


def test_a_load_that_lies_half_outside() -> None:
    """32 floats in front of the end of UB, which is a multiple of 32 bytes."""
    step = "      %p = pto.addptr %in, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>\n"
    report = check(walk(65536 - 32, 65536 - 31, step + vlds(source="%p")))
    assert kinds(report) == ["out-of-bounds!"]
    assert report.findings[0].bytes == (262016, 262272)


def test_what_is_stored_and_loaded_inside_stays_ordinary() -> None:
    """Behind a load that has left UB the quick way through the shadow is as it was."""
    body = walk(0, REGISTERS + 2, vlds(offset="%o")).replace(
        ALL, scope(MASK + vlds("%w") + vsts("%w")) + order("V", "MTE3") + store() + ALL
    )
    assert kinds(check(body)) == ["out-of-bounds!"]
