"""Types: registers of exactly 256 bytes, masks, pointers, and one spelling for each element."""

import pytest

from language.source import accepts, prints

REGISTERS = [
    *((256, name) for name in "i8 si8 ui8 f8E4M3FN f8E5M2 !pto.hif8 !pto.f8E8M0 !pto.f4E1M2x2 !pto.f4E2M1x2".split()),
    *((128, name) for name in "i16 si16 ui16 f16 bf16 !pto.hif8x2".split()),
    *((64, name) for name in "i32 si32 ui32 f32 !pto.bf16x2".split()),
    *((32, name) for name in "i64 si64 ui64".split()),
]


@pytest.mark.parametrize("lanes, element", REGISTERS)
def test_registers_and_pointers(lanes: int, element: str):
    text = f"func.func @f(%v: !pto.vreg<{lanes}x{element}>, %p: !pto.ptr<{element}, ub>) {{"
    prints(f"{text} return }}", text)


def test_masks_and_aligns():
    text = "func.func @f(%a: !pto.mask<b8>, %b: !pto.mask<b16>, %c: !pto.mask<b32>, %d: !pto.align) {"
    prints(f"{text} return }}", text)


def test_one_spelling_of_e8m0():
    prints(
        "func.func @f(%v: !pto.vreg<256xf8E8M0FNU>, %p: !pto.ptr<f8E8M0FNU>) { return }",
        "func.func @f(%v: !pto.vreg<256x!pto.f8E8M0>, %p: !pto.ptr<!pto.f8E8M0, gm>) {",
    )


@pytest.mark.parametrize("type_", ["i1", "i4", "i8", "i64", "index", "f16", "bf16", "f32", "f64", "si8", "ui64"])
def test_scalars(type_: str):
    accepts(f"func.func @f(%x: {type_}) {{ return }}")


def test_aliases_of_types_and_attributes():
    prints(
        "!tile = !pto.ptr<f32, ub>\n#kind = #pto.kernel_kind<vector>\n"
        "module attributes {pto.kernel_kind = #kind} { func.func @f(%p: !tile) { return } }",
        "func.func @f(%p: !pto.ptr<f32, ub>) {",
    )
