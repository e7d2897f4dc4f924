"""Rules that only lowering knows and that constants break: `ptosim verify` warns of them, a run is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

import ptosim
from language.move_kernel import expanded
from ptosim import PTOError
from ptosim.cli.commands import main
from tables import table

EXTRACT = "pto.textract ins(%s, %row, %col : S, index, index) outs(%d : D)"
MOVE = "pto.tmov ins(%s : S) outs(%d : D)"
PRODUCT = """pto.tget_scale_addr ins(%s : S) outs(%a : A)
pto.tget_scale_addr ins(%d : D) outs(%b : B)
pto.tmatmul.mx ins(%s, %a, %d, %b : S, A, D, B) outs(%c : C)"""
MX = {
    "s": "LEFT<32x64xf8E4M3FN>",
    "d": "RIGHT<64x32xf8E4M3FN>",
    "a": "SA<32x2x!pto.f8E8M0>",
    "b": "SB<2x32x!pto.f8E8M0>",
    "c": "ACC<32x32xf32>",
}
ZN = "!pto.tile_buf<mat, {}, slayout=col_major>"
ROW = "!pto.tile_buf<mat, {}>"


def load(operation: str, tiles: Mapping[str, str], row: int = 0, col: int = 0, kind: str = "cube") -> ptosim.Module:
    """A module that does one thing with tiles; in it `S` is the type of %s, and so on."""
    for name, type_ in tiles.items():
        for before in (" ", "("):
            for after in (",", ")", " "):
                operation = operation.replace(before + name.upper() + after, before + type_ + after)
    allocated = "\n".join(f"%{name} = pto.alloc_tile : {type_}" for name, type_ in tiles.items())
    return ptosim.load(
        expanded(f"""module attributes {{pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
func.func @k() {{
%row = arith.constant {row} : index
%col = arith.constant {col} : index
{allocated}
{operation}
return
}}
}}
""")
    )


@table(
    "source, dest, wrong, right",
    ("MAT<64x64xf16>", "LEFT<16x32xf16>", (8, 0), (16, 0)),
    ("MAT<64x64xf16>", "LEFT<16x32xf16>", (0, 8), (0, 16)),
    ("MAT<64x64xf32>", "LEFT<16x32xf32>", (0, 4), (0, 8)),
    (ZN.format("64x64xf16"), "RIGHT<16x32xf16>", (8, 0), (16, 0)),
    (ZN.format("64x64xf16"), "RIGHT<16x32xf16>", (0, 8), (0, 16)),
    ("MAT<64x64xi8>", "RIGHT<32x32xi8>", (16, 0), (32, 0)),
    ("MAT<64x64xi8>", "RIGHT<32x32xi8>", (0, 16), (0, 32)),
    (ROW.format("1x512xf16"), "LEFT<1x256xf16>", (0, 16), (0, 256)),
    ("ACC<32x32xf32>", "ND<16x16xf32>", (0, 8), (0, 16)),
    ("ACC<32x32xf32>", "MAT<16x16xf16>", (0, 8), (0, 16)),
)
def test_windows_begin_where_their_memory_can(
    source: str, dest: str, wrong: tuple[int, int], right: tuple[int, int]
) -> None:
    tiles = {"s": source, "d": dest}
    (found,) = load(EXTRACT, tiles, *wrong).refused
    assert found.kind == "misaligned"
    assert found.line == 7
    assert "must be a multiple of" in found.message
    assert not load(EXTRACT, tiles, *right).refused


@table(
    "dest, element, wrong, right, unit",
    ("BIAS", "f32", 8, 16, 64),
    ("BIAS", "f32", 24, 48, 64),
    ("FP", "i64", 8, 16, 128),
    ("FP", "i64", 24, 48, 128),
)
def test_rows_of_parameters_fill_their_units(dest: str, element: str, wrong: int, right: int, unit: int) -> None:
    def refused(columns: int) -> tuple[ptosim.Diagnostic, ...]:
        row = f"1x{columns}x{element}"
        return tuple(load(MOVE, {"s": ROW.format(row), "d": f"{dest}<{row}>"}).refused)

    (found,) = refused(wrong)
    assert found.kind == "misaligned"
    assert found.message.startswith("a row in") and f"a multiple of {unit} bytes" in found.message
    assert not refused(right)


@table(
    "binding, message",
    ("", "is bound to no operand"),
    ("pto.tget_scale_addr ins(%o : O) outs(%a : A)", "is bound to another operand than that of the product"),
    (
        "pto.tget_scale_addr ins(%s : S) outs(%a : A)\npto.tget_scale_addr ins(%o : O) outs(%a : A)",
        "is bound to several operands",
    ),
)
def test_scales_belong_to_their_operand(binding: str, message: str) -> None:
    _, *rest = PRODUCT.splitlines()
    tiles = {**MX, "o": MX["s"]}
    (found,) = load("\n".join([binding, *rest]), tiles).refused
    assert found.kind == "invalid"
    assert message in found.message
    assert not load(PRODUCT, MX).refused


def test_verify_warns_of_what_a_run_will_refuse(tmp_path: Path) -> None:
    file = tmp_path / "extract.pto"
    file.write_text(load(EXTRACT, {"s": "MAT<64x64xf16>", "d": "LEFT<16x32xf16>"}, 8).source)
    ended = CliRunner().invoke(main, ["verify", str(file)])
    assert ended.exit_code == 0
    assert "warning: misaligned" in ended.output
    assert "a run ends here; the text is accepted" in ended.output
    assert CliRunner().invoke(main, ["verify", "--strict", str(file)]).exit_code == 1


def test_what_nothing_can_run_is_verified_all_the_same() -> None:
    """A lowering that does not exist is no error of the file."""
    twice = "%two = arith.constant 2.0 : f32\npto.tmuls ins(%s, %two : S, f32) outs(%d : D)"
    module = load(twice, {"s": "NZ<16x16xf32>", "d": "ND<16x16xf32>"}, kind="vector")
    with pytest.raises(PTOError, match="unsupported"):
        module.kernel()()
