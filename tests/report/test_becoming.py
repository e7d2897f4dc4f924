"""`ptosim isa` says what a tile operation becomes."""

from ptosim.language.catalogue import operations
from ptosim.report.instruction import page
from ptosim.tiles.pending import is_of_tiles
from tables import table


@table(
    "name, expected",
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
    ("tmov.fp", ["set_loop3_para", "set_fpc", "copy_matrix_cc_to_cbuf"]),
    ("talloc_to_aiv", ["local_array_get", "wait_intra_block"]),
    ("tpush", ["local_array_get", "wait_intra_block", "mte_ub_l1", "set_intra_block", "local_array_set"]),
    ("tfree", ["local_array_get", "set_intra_block"]),
    ("tget_async", ["sim.apart", "sim.transfer"]),
    ("eventid_array_get", ["local_array_get"]),
    ("struct_set", ["struct_set"]),
)
def test_an_example_is_lowered(name: str, expected: list[str]) -> None:
    found = page(name)
    assert found.becomes == expected
    assert f"becomes: {', '.join(expected)}\n" in f"{found}\n"


def test_an_instruction_becomes_nothing() -> None:
    assert "becomes" not in str(page("vadd"))


@table(
    "name, taken_up_by",
    ("alloc_tile", "whatever takes its tile, view, address or number is lowered with what it says"),
    ("set_quant_scalar", "the pushes behind it are lowered with its scale"),
    ("settf32mode", "the products behind it are lowered with its mode"),
    ("tprefetch_async", "nothing depends on what is in a cache"),
)
def test_what_becomes_nothing_is_taken_up(name: str, taken_up_by: str) -> None:
    assert page(name).absorbed == taken_up_by
    assert f"becomes: nothing of its own; {taken_up_by}" in str(page(name))


def test_every_operation_on_tiles_says_what_it_becomes() -> None:
    found = {op.name: page(op.name) for op in operations() if is_of_tiles(op)}
    assert len(found) > 200
    assert [name for name, page in found.items() if bool(page.becomes) == bool(page.absorbed)] == []
    known = {each.name.removeprefix("pto.") for each in operations()}
    assert [name for name, page in found.items() if not known.issuperset(page.becomes)] == []
