"""Loads, stores and moves of tiles: every spelling, every path, what is rejected and where the diagnostic points."""

from language.move_kernel import accepts, module, only, rejects
from ptosim.effects.names import Pipe
from refusals.tile_move import LOAD, STORE
from tables import table

# --- loads ------------------------------------------------------------------------------------------------------------


@table(
    "view, tile",
    ("PV<16x64xf32>", "ND<16x64xf32>"),
    ("PV<1x1x2x8x64xf32>", "ND<16x64xf32>"),
    ("PV<16x64xf32>", "DN<16x64xf32>"),
    ("PV<4x1x1x16x16xf16>", "NZ<16x64xf16>"),
    ("PV<?x?xf32>", "ND<16x64xf32, valid=?x?>"),
    ("PV<16x64xui32>", "ND<16x64xf32>"),
    ("PV<64x64xf16>", "MAT<64x64xf16>"),
    ("PV<1x64xi64>", "FP<1x64xi64>"),
    ("PV<16x64x!pto.hif8>", "ND<16x64x!pto.hif8>"),
)
def test_loads(view: str, tile: str) -> None:
    accepts(LOAD.format(view, tile))
    assert only(LOAD.format(view, tile)).pipe("a5") is Pipe.MTE2


VIEW = """%c1 = arith.constant 1 : index
%c16 = arith.constant 16 : index
%c64 = arith.constant 64 : index
%v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [{}] {} : !pto.tensor_view<16x64xf32>
%w = pto.partition_view %v, offsets = [%c1, %c1], sizes = [%c1, %c1] : !pto.tensor_view<16x64xf32>
    -> !pto.partition_tensor_view<1x1xf32>
"""


STRIDES = {"": "%c64, %c1", "nd": "%c64, %c1", "dn": "%c1, %c16"}


def with_view(layout: str, rest: str) -> str:
    attribute = f"{{layout = #pto.layout<{layout}>}}" if layout else ""
    body = VIEW.format(STRIDES[layout], attribute) + rest.replace("PV<1x1xf32>", "!pto.partition_tensor_view<1x1xf32>")
    text = module(body.replace("%p", "%pointer"))
    return text.replace("%pointer: !pto.tensor_view<16x64xf32>", "%pointer: !pto.ptr<f32, gm>")


def test_a_load_to_vec_keeps_the_layout_that_is_written() -> None:
    load = LOAD.format("PV<1x1xf32>", "~DN<16x64xf32>")
    accepts(with_view("dn", load.replace("~", "")))
    accepts(with_view("", load.replace("~", "")))
    accepts(with_view("nd", LOAD.format("PV<1x1xf32>", "DN<16x1xf32>")))
    message = "src has layout nd, but dst in vec is laid out as DN"
    rejects(with_view("nd", load), message)


def test_a_load_to_vec_keeps_the_order_that_strides_say() -> None:
    load = LOAD.format("PV<16x16xf32>", "~ND<16x64xf32>")
    text = with_view("", load).replace("sizes = [%c1, %c1]", "sizes = [%c16, %c16]").replace("1x1xf32", "16x16xf32")
    text = text.replace("offsets = [%c1, %c1]", "offsets = [%c0, %c0]").replace(
        "%c1 =", "%c0 = arith.constant 0 : index\n%c1 ="
    )
    accepts(text.replace("~", ""))
    message = "columns of src are 16 elements apart, but in a row of dst in vec they are neighbours"
    rejects(text.replace("strides = [%c64, %c1]", "strides = [%c1, %c16]"), message)
    accepts(
        text.replace("strides = [%c64, %c1]", "strides = [%c1, %c16]")
        .replace("~", "")
        .replace("vec, 16x64xf32", "vec, 1x64xf32")
    )


@table(
    "tail",
    "pad_mode = #pto.padmode<PadNull>",
    "pad_value = %x : f32",
    "left_padding_num = %n : index",
    "init_out_buffer = true",
    "right_padding_num = %n : index",
    "init_condition = %c : i1",
)
def test_what_no_machine_reads_is_unsupported(tail: str) -> None:
    name = tail.partition(" ")[0]
    body = LOAD.format("PV<16x64xf32>", "ND<16x64xf32>")
    rejects(f"{body} ~{tail}", f"'{name}' of pto.tload is not simulated: no machine reads it", sort="unsupported")


# --- stores -----------------------------------------------------------------------------------------------------------


@table(
    "body, target, pipe",
    (STORE.format("ND<16x64xf32>", "PV<16x64xf32>"), "a5", Pipe.MTE3),
    (STORE.format("ND<1x1024xf32>", "PV<32x32xf32>"), "a5", Pipe.MTE3),
    (STORE.format("ND<16x64xf32, valid=?x?>", "PV<16x60xf32>"), "a5", Pipe.MTE3),
    (STORE.format("ACC<16x64xf32>", "PV<16x64xf32>"), "a5", Pipe.FIX),
    (STORE.format("ACC<16x64xf32>", "PV<16x64xbf16>"), "a2a3", Pipe.FIX),
    (STORE.format("MAT<16x64xf16>", "PV<16x64xf16>"), "a2a3", Pipe.FIX),  # a cube core has no MTE3
    (STORE.format("ACC<16x64xf32> fp %f : FP<1x64xi64>", "PV<16x64xui8>"), "a5", Pipe.FIX),
    (STORE.format("ACC<16x64xf32> fp %f : FP<1x64xf32>", "PV<16x64xi8>"), "a5", Pipe.FIX),
    (STORE.format("ACC<16x64xi32>, %q : i64", "PV<16x64xf16>"), "a5", Pipe.FIX),
    (
        STORE.format("ND<16x64xf32>", "PV<16x64xf32>") + " {atomicType = #pto<atomic_type atomic_add>}",
        "a5",
        Pipe.MTE3,
    ),
    (
        STORE.format("ND<16x64xsi16>", "PV<16x64xsi16>") + " {atomicType = #pto<atomic_type atomic_add>}",
        "a5",
        Pipe.MTE3,
    ),
    (
        STORE.format("ND<16x64xf32>", "PV<16x64xf32>") + " {atomicType = #pto.atomic_type<atomic_add>}",
        "a5",
        Pipe.MTE3,
    ),
    (
        STORE.format("ACC<16x64xf32>", "PV<16x64xf32>")
        + " {stPhase = #pto<st_phase final>, reluPreMode = #pto<relu_pre_mode normal_relu>}",
        "a5",
        Pipe.FIX,
    ),
)
def test_stores(body: str, target: str, pipe: Pipe) -> None:
    accepts(body, target)
    assert only(body, target).pipe(target) is pipe


def test_the_roles_of_a_store() -> None:
    op = only(STORE.format("ACC<16x64xf32> fp %f : FP<1x64xi64>", "PV<16x64xi8>"))
    assert [role for role, _ in op.roles()] == ["src", "fp", "dst"]
    assert (op.reads, op.writes, op.overwrites) == (("src", "fp"), ("dst",), ("dst",))


def test_both_spellings_of_an_attribute_print_alike() -> None:
    body = STORE.format("ND<16x64xf32>", "PV<16x64xf32>")
    one, other = (
        accepts(f"{body} {{atomicType = {spelling}}}")
        for spelling in ("#pto<atomic_type atomic_add>", "#pto.atomic_type<atomic_add>")
    )
    assert one == other
    assert "{atomicType = #pto<atomic_type atomic_add>}" in one
