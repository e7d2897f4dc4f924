"""Views of tensors in global memory, and parts of them."""

from language.view_kernel import accepts, prints, rejects, warns
from refusals.tensor_view import MAKE, partition
from tables import table

PV = "!pto.partition_tensor_view<16x64xf32>"


@table(
    "line",
    f"%u = {MAKE} : !pto.tensor_view<?x?xf32>",
    f"%u = {MAKE} {{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?xf32>",
    "%u = pto.make_tensor_view %p, shape = [%m], strides = [%c1] : !pto.tensor_view<16xf32>",
    "%u = pto.make_tensor_view %p, shape = [%m, %m, %m, %m, %m], strides = [%n, %n, %n, %n, %n] : "
    "!pto.tensor_view<1x?x2x?x3xf32>",
    f"%u = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c16, %c64] : TV -> {PV}",
    f"%u = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n] : TV -> {PV}",
    "%u = pto.get_tensor_view_dim %v, %i : TV -> index",
    "%u = pto.get_tensor_view_stride %v, %c1 : TV -> index",
    "%u = pto.tensor_view_addr %v : TV -> !pto.ptr<f32, gm>",
    "%u = pto.declare_global -> TV",
)
def test_how_they_are_written(line: str):
    prints(line, line)


@table(
    "written, line",
    (
        "%u = pto.partition_view %v, offsets = [%i, %c0], sizes = [%m, %c64] : TV",
        "%u = pto.partition_view %v, offsets = [%i, %c0], sizes = [%m, %c64] : TV -> "
        "!pto.partition_tensor_view<?x64xf32>",
    ),
    (
        f"%u = {MAKE} {{layout = #pto<layout dn>}} : !pto.tensor_view<?x?xf32>",
        f"%u = {MAKE} {{layout = #pto.layout<dn>}} : !pto.tensor_view<?x?xf32>",
    ),
    (
        f'%u = {MAKE} : !pto.tensor_view<?x?xf32> {{layout = "nz"}}',
        f"%u = {MAKE} {{layout = #pto.layout<nz>}} : !pto.tensor_view<?x?xf32>",
    ),
    ("%u = pto.get_tensor_view_dim %v, %i : TV", "%u = pto.get_tensor_view_dim %v, %i : TV -> index"),
)
def test_other_spellings(written: str, line: str):
    prints(written, line)


def test_a_layout_is_one_of_five():
    for word in ("nd", "dn", "nz", "mx_a_zz", "mx_b_nn"):
        accepts(f"%u = {MAKE} {{layout = #pto.layout<{word}>}} : !pto.tensor_view<?x?xf32>")
    text = f"%u = {MAKE} {{layout = ~#pto.layout<zz>}} : !pto.tensor_view<?x?xf32>"
    rejects(text, "unknown layout 'zz'; known: nd, dn, nz, mx_a_zz, mx_b_nn", "syntax")
    text = f"%u = {MAKE} {{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?xf32> {{layout = ~#pto.layout<nd>}}"
    rejects(text, "layout is given twice", "syntax")


@table("rows, strides, written, inferred", ("%c16", "1, 16", "nd", "dn"), ("%c16", "64, 1", "dn", "nd"))
def test_a_layout_that_contradicts_the_strides_is_warned_of(rows: str, strides: str, written: str, inferred: str):
    one, other = strides.split(", ")
    view = f"%u = pto.make_tensor_view %p, shape = [{rows}, %c64], strides = [%c{one}, %c{other}]"
    type_ = "!pto.tensor_view<?x?xf32>"
    message = f"layout is {written}, but strides {strides} are those of {inferred}; {written} holds"
    warns(f"{view} {{layout = ~#pto.layout<{written}>}} : {type_}", message)
    accepts(f"{view} {{layout = #pto.layout<{inferred}>}} : {type_}")
    accepts(f"{view} {{layout = #pto.layout<nz>}} : {type_}")


def test_a_column_is_rows_and_columns_at_once():
    for layout in ("nd", "dn"):
        line = (
            f"shape = [%c16, %c1], strides = [%c1, %c1] {{layout = #pto.layout<{layout}>}} : !pto.tensor_view<?x?xf32>"
        )
        accepts(f"%u = pto.make_tensor_view %p, {line}")


@table(
    "offsets, sizes, result",
    ("%c0, %c0", "%c16, %c64", "16x64"),
    ("%i, %c32", "%m, %c32", "?x32"),
    ("%i, %j", "%m, %n", "16x64"),
)
def test_parts_within_their_view(offsets: str, sizes: str, result: str):
    accepts(partition(offsets, sizes, result))
