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
        ("tmatmul.mx", ["mad_mx"]),
        ("tpush_to_aiv", ["local_array_get", "wait_intra_block", "mte_l0c_ub", "set_intra_block", "local_array_set"]),
        ("tpop_from_aiv", ["local_array_get", "wait_intra_block", "local_array_set"]),
        ("tfree_from_aic", ["local_array_get", "set_intra_block"]),
        ("comm.tput", ["mte_gm_ub", "sim.set_token", "sim.wait_token", "mte_ub_gm"]),
        ("comm.tnotify", ["sim.notify"]),
        ("vadd", []),
        ("alloc_tile", []),
    ],
)
def test_an_example_is_lowered(name: str, expected: list[str]) -> None:
    found = page(name)
    assert found.becomes == expected
    assert (f"becomes: {', '.join(expected)}" in str(found)) == bool(expected)


COMMUNICATION = [op for op in operations() if room_of(op) == "comm" and issubclass(op, TileOperation)]


@pytest.mark.parametrize("operation", VECTOR + COMMUNICATION, ids=lambda op: op.name)
def test_every_operation_becomes_instructions(operation: type[TileOperation]) -> None:
    known = {each.name for each in operations()}
    names = page(operation.name).becomes
    assert names and {f"pto.{name}" for name in names} <= known | {"pto.sim.print_tile"}
