"""`ptosim isa` says what a tile operation becomes."""

import pytest

from ptosim.language.catalogue import operations, room_of
from ptosim.language.tile_operation import TileOperation
from ptosim.report.instruction import page

VECTOR = [op for op in operations() if room_of(op).startswith("tile_vector") and issubclass(op, TileOperation)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tadd", ["pset_b32", "vlds", "vadd", "vsts"]),
        ("trowmax", ["pset_b32", "vbr", "vlds", "vcmax", "vmax", "vsts"]),
        ("tload", ["mte_gm_ub"]),
        ("tstore", ["mte_ub_gm"]),
        ("tmatmul.bias", ["mad_bias"]),
        ("tgetval", ["load_scalar"]),
        ("tsort32", ["vbitsort"]),
        ("vadd", []),
        ("alloc_tile", []),
    ],
)
def test_an_example_is_lowered(name: str, expected: list[str]) -> None:
    found = page(name)
    assert found.becomes == expected
    assert (f"becomes: {', '.join(expected)}" in str(found)) == bool(expected)


@pytest.mark.parametrize("operation", VECTOR, ids=lambda op: op.name)
def test_every_vector_operation_becomes_instructions(operation: type[TileOperation]) -> None:
    known = {each.name for each in operations()}
    names = page(operation.name).becomes
    assert names and {f"pto.{name}" for name in names} <= known | {"pto.sim.print_tile"}
