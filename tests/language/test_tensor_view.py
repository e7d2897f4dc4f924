"""Views of tensors in global memory, and parts of them."""

import pytest

from language.view_kernel import accepts, prints, rejects, twins, warns

PV = "!pto.partition_tensor_view<16x64xf32>"
MAKE = "pto.make_tensor_view %p, shape = [%m, %n], strides = [%n, %c1]"


@pytest.mark.parametrize(
    "line",
    [
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
    ],
)
def test_how_they_are_written(line: str):
    prints(line, line)


@pytest.mark.parametrize(
    "written, line",
    [
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
    ],
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


@pytest.mark.parametrize(
    "rows, strides, written, inferred", [("%c16", "1, 16", "nd", "dn"), ("%c16", "64, 1", "dn", "nd")]
)
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


@pytest.mark.parametrize(
    "text, message",
    [
        (
            f"%u = {MAKE} : ~!pto.tensor_view<?x?x«f16|f32»>",
            "expects a view of f32, the element of the pointer, not f16",
        ),
        (
            f"%u = {MAKE} : ~!pto.«partition_|»tensor_view<?x?xf32>",
            "result must be !pto.tensor_view, not !pto.partition_tensor_view<?x?xf32>",
        ),
        (
            "%u = pto.make_tensor_view %p, shape = [%m, %n«, ~%n|»], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>",
            "expects 2 shape, one for each dimension of the view, but got 3",
        ),
        (
            "%u = ~pto.make_tensor_view %p, shape = [%m, %n], strides = [%n«|, %c1»] : !pto.tensor_view<?x?xf32>",
            "expects 2 strides, one for each dimension of the view, but got 1",
        ),
        (
            "%u = pto.make_tensor_view %p, shape = [~%«w|m», %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>",
            "shape[0] must be index, not i32",
        ),
        (
            "%u = pto.make_tensor_view ~%«w|p», shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>",
            "pointer must be a pointer, not i32",
        ),
        (
            "%q = pto.castptr %a : i64 -> !pto.ptr<f32, ub>\n"
            "%u = pto.make_tensor_view ~%«q|p», shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>",
            "pointer must point to gm, not ub",
        ),
        (
            "%q = pto.inttoptr %a : i64 -> !pto.ptr<f32, gm>\n"
            "%u = pto.make_tensor_view ~%«q|p», shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>",
            "a pointer made by pto.inttoptr may only be loaded from and stored to by the scalar unit, "
            "not used by pto.make_tensor_view",
        ),
    ],
)
def test_making_a_view(text: str, message: str):
    twins(text, message)


PART = "%u = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n]"


def partition(offsets: str, sizes: str, result: str = "?x?") -> str:
    type_ = f"!pto.partition_tensor_view<{result}xf32>"
    return f"%u = pto.partition_view %v, offsets = [{offsets}], sizes = [{sizes}] : TV -> {type_}"


@pytest.mark.parametrize(
    "text, message",
    [
        (partition("~%«cm1|c1», %i", "%m, %n"), "offsets[0] is -1; it must not be negative"),
        (partition("%i, %j", "%m, ~%«c0|c1»"), "sizes[1] is 0; it must be positive"),
        (partition("%i, %j", "~%«cm1|c1», %n"), "sizes[0] is -1; it must be positive"),
        (partition("%i, %j", "%m, ~%«c65|c64»"), "sizes[1] is 65, but the view has 64 elements there"),
        (
            partition("%i, %c1", "%m, ~%«c64|c63»"),
            "offsets[1] is 1 and sizes[1] 64, but the view has 64 elements there",
        ),
        (partition("%i, %j", "~%«c8|c16», %n", "16x?"), "sizes[0] is 8, but the result type says 16"),
        (
            partition("%i, %j«, ~%j|»", "%m, %n"),
            "expects 2 offsets, one for each dimension of the view, but got 3",
        ),
        (
            partition("%i, %j", "%m«|, %n»").replace("pto.part", "~pto.part", 1),
            "expects 2 sizes, one for each dimension of the view, but got 1",
        ),
        (
            f"{PART} : TV -> ~!pto.partition_tensor_view<?«|x?»xf32>",
            "expects a partition of rank 2, not 1",
        ),
        (
            f"{PART} : TV -> ~!pto.partition_tensor_view<?x?x«f16|f32»>",
            "expects a partition of f32, not of f16",
        ),
        (
            f"{PART} : TV -> ~«TV|!pto.partition_tensor_view<?x?xf32>»",
            "result must be !pto.partition_tensor_view, not TV",
        ),
        (partition("%i, %j", "%m, ~%«w|n»"), "sizes[1] must be index, not i32"),
        (
            "%u = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n] : ~!pto.tensor_view<?x«?|64»xf32>",
            "source has type TV, but the type list says !pto.tensor_view<?x?xf32>",
        ),
        ("%u = pto.get_tensor_view_dim %v, ~%«c2|c1» : TV -> index", "dimension is 2; the view has dimensions 0..1"),
        (
            "%u = pto.get_tensor_view_stride %v, ~%«cm1|c0» : TV -> index",
            "dimension is -1; the view has dimensions 0..1",
        ),
        ("%u = pto.get_tensor_view_dim %v, ~%«w|i» : TV -> index", "dimension must be index, not i32"),
        (
            "%u = pto.tensor_view_addr %v : TV -> ~!pto.ptr<«f16|f32», gm>",
            "expects a pointer to f32, the element of the view, not f16",
        ),
        ("%u = pto.tensor_view_addr %v : TV -> ~!pto.ptr<f32, «ub|gm»>", "result must point to gm, not ub"),
    ],
)
def test_parts_and_questions(text: str, message: str):
    twins(text, message)


@pytest.mark.parametrize(
    "offsets, sizes, result",
    [("%c0, %c0", "%c16, %c64", "16x64"), ("%i, %c32", "%m, %c32", "?x32"), ("%i, %j", "%m, %n", "16x64")],
)
def test_parts_within_their_view(offsets: str, sizes: str, result: str):
    accepts(partition(offsets, sizes, result))


def test_a_part_without_a_view_has_no_type_to_infer():
    text = "%u = pto.partition_view %p, offsets = [%i], sizes = [%m] : !pto.ptr<f32, gm>~"
    rejects(text, "expected the result type of pto.partition_view", "syntax")
