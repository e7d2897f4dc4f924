"""What a verifier must refuse, per document: one wrong line in an otherwise good kernel."""

from golden.program import module, vreg

V = {e: vreg(e) for e in "f32 f16 bf16 i8 si8 ui8 i16 si16 ui16 i32 si32 ui32 i64 si64 ui64 f8E4M3FN".split()}
NAMES = {f"V<{e}>": v for e, v in V.items()}

SCOPE = "\n".join(
    [f"      %v_{e} = pto.vlds %ub_{e}[%c0] : P<{e}> -> V<{e}>" for e in V]
    + [f'      %m_{g} = pto.pset_{g} "PAT_ALL" : M<{g}>' for g in ("b8", "b16", "b32")]
)
POINTERS = "\n".join(f"    %ub_{e} = pto.castptr %c0_i64 : i64 -> P<{e}>" for e in V)


def expanded(text: str) -> str:
    """V<f32>, P<f32>, G<f32>, M<b32> and A stand for the types."""
    for name, kind in NAMES.items():
        text = text.replace(name, kind)
    for space, letter in (
        ("ub", "P"),
        ("gm", "G"),
        ("l1", "L"),
        ("l0a", "X"),
        ("l0b", "Y"),
        ("l0c", "C"),
        ("bt", "B"),
        ("fb", "F"),
    ):
        for e in (
            "f32",
            "f16",
            "bf16",
            "i8",
            "si8",
            "ui8",
            "i16",
            "si16",
            "ui16",
            "i32",
            "si32",
            "ui32",
            "i64",
            "si64",
            "ui64",
            "f8E4M3FN",
            "f8E5M2",
            "!pto.hif8",
            "!pto.f4E2M1x2",
            "i4",
        ):
            text = text.replace(f"{letter}<{e}>", f"!pto.ptr<{e}, {space}>")
    for g in ("b8", "b16", "b32", "b64"):
        text = text.replace(f"M<{g}>", f"!pto.mask<{g}>")
    return text.replace("ALIGN", "!pto.align")


def in_scope(line: str) -> str:
    """The line inside of a vector scope that has a register of every type and a mask of every granularity."""
    body = f"{POINTERS}\n    pto.vecscope {{\n{SCOPE}\n      {line}\n    }}"
    return module(expanded(body), "%gm: !pto.ptr<f32, gm>")


def in_function(line: str, attributes: str = "") -> str:
    """The line between the pointers and the end of the function."""
    return module(expanded(f"{POINTERS}\n    {line}"), "%gm: !pto.ptr<f32, gm>, %n: i32", attributes=attributes)


CUBE_POINTERS = "\n".join(
    [
        f"    %{space}_{name} = pto.castptr %c0_i64 : i64 -> {letter}<{e}>"
        for space, letter in (
            ("l1", "L"),
            ("l0a", "X"),
            ("l0b", "Y"),
            ("l0c", "C"),
            ("bt", "B"),
            ("fb", "F"),
            ("ub", "P"),
            ("gmp", "G"),
        )
        for name, e in (
            ("f32", "f32"),
            ("f16", "f16"),
            ("bf16", "bf16"),
            ("i32", "i32"),
            ("si8", "si8"),
            ("ui8", "ui8"),
            ("ui64", "ui64"),
            ("e4m3", "f8E4M3FN"),
            ("hif8", "!pto.hif8"),
            ("ui32", "ui32"),
            ("fp4", "!pto.f4E2M1x2"),
        )
    ]
)


def in_cube(line: str) -> str:
    """The line in a cube kernel with a pointer of every type into every space."""
    body = CUBE_POINTERS + (
        "\n    %false = arith.constant false\n    %true = arith.constant true\n    %scale = arith.constant 1.0 : f32\n"
    )
    body += (
        "    %half = arith.constant 1.0 : f16\n    %byte = arith.constant 1 : i8\n"
        "    %dynamic = arith.extsi %n : i32 to i64\n    "
    ) + line
    return module(
        expanded(body), "%gm: !pto.ptr<f32, gm>, %n: i32", attributes="pto.kernel_kind = #pto.kernel_kind<cube>"
    )
