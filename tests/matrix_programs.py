"""Kernels of the cube core on tiles: text written operation by operation, run on both engines.

    program = Program()
    program.view("a", "f16", (50, 70))
    program.tile("ma", "mat, 64x80xf16, valid=50x70", NZ)
    program.op("tload", ["a"], ["ma"])
    program.run(a=array)

Every operation is followed by a barrier, so that a test is about values and not about order.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import ptosim
from both_engines import BothEngines
from cube_programs import Images, observed

NZ = "blayout=col_major, slayout=row_major"
ZN = "blayout=row_major, slayout=col_major"
ND, DN = "", "blayout=col_major"
ACC = f"{NZ}, fractal=1024"

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i8": np.int8,
    "ui8": np.uint8,
    "i32": np.int32,
    "i16": np.int16,
    "i64": np.int64,
    "si8": np.int8,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    **dict.fromkeys(("!pto.hif8", "!pto.f8E8M0", "!pto.f4E1M2x2", "!pto.f4E2M1x2"), np.uint8),
}


def up(extent: int, unit: int) -> int:
    return -(-extent // unit) * unit


def block(element: str) -> int:
    """Elements of a granule."""
    return 32 // np.dtype(DTYPES[element]).itemsize


class Program:
    """A kernel in the making."""

    def __init__(self, target: str = "a5", scalars: dict[str, str] | None = None) -> None:
        self.target = target
        self.scalars = scalars or {}
        self.views: dict[str, str] = {}
        self.types: dict[str, str] = {}
        self.heads: dict[str, str] = {}
        self.lines: list[str] = []
        self.vector: list[str] | None = None
        """What the vector cores do, in a kernel for all cores."""
        self.ends: dict[str, int] = {}
        """Where the last tile of each memory ends."""

    def number(self, value: int | str, type_: str = "index") -> str:
        if isinstance(value, str):
            return value
        name = f"%c{value}_{type_}".replace("-", "m")
        self.heads[name] = f"{name} = arith.constant {value} : {type_}"
        return name

    def view(
        self,
        name: str,
        element: str,
        shape: tuple[int | str, ...],
        strides: tuple[int | str, ...] | None = None,
        offsets: tuple[int | str, ...] | None = None,
        tensor: tuple[int, ...] | None = None,
        layout: str | None = None,
    ) -> None:
        """A parameter, and the part of it that operations see."""
        whole = tensor or shape
        if strides is None:
            strides = tuple(int(np.prod(whole[axis + 1 :])) for axis in range(len(whole)))
        self.views.setdefault(name, element)
        rank = "x".join("?" * len(shape))
        written = f" {{layout = #pto.layout<{layout}>}}" if layout else ""
        numbers = [
            ", ".join(self.number(x) for x in xs) for xs in (whole, strides, offsets or (0,) * len(shape), shape)
        ]
        self.lines.append(
            f"%v_{name} = pto.make_tensor_view %{name}_gm, shape = [{numbers[0]}], strides = [{numbers[1]}]{written}"
            f" : !pto.tensor_view<{rank}x{element}>"
        )
        known = "x".join("?" if isinstance(x, str) else str(x) for x in shape)
        self.types[name] = f"!pto.partition_tensor_view<{known}x{element}>"
        self.lines.append(
            f"%{name} = pto.partition_view %v_{name}, offsets = [{numbers[2]}], sizes = [{numbers[3]}]"
            f" : !pto.tensor_view<{rank}x{element}> -> {self.types[name]}"
        )

    def tile(
        self, name: str, text: str, layout: str = "", addr: int | None = None, valid: tuple[Any, Any] | None = None
    ) -> None:
        self.types[name] = f"!pto.tile_buf<{', '.join(filter(None, [text, layout]))}>"
        loc, shape, *_ = text.split(", ")
        rows, cols, element = shape.split("x", 2)
        height = 1 if rows == "1" else up(int(rows), 32)
        width = np.dtype(DTYPES[element]).itemsize
        size = height * up(int(cols), 32) * (8 if loc == "scaling" and width > 1 else width)
        start = self.ends.get(loc, 0) if addr is None else addr
        self.ends[loc] = max(self.ends.get(loc, 0), up(start + size, 512))
        at = f" addr = {self.number(start, 'i64')}"
        sizes = "" if valid is None else f" valid_row = {self.number(valid[0])} valid_col = {self.number(valid[1])}"
        self.lines.append(f"%{name} = pto.alloc_tile{at}{sizes} : {self.types[name]}")

    def op(self, name: str, ins: list[Any], outs: list[str], attributes: str = "", keywords: str = "") -> None:
        """`pto.name ins(..) outs(..)`; an integer is an index, a text with % a value with its type behind a space."""
        values = [self._value(one) for one in ins]
        text = ", ".join(value for value, _ in values) + " : " + ", ".join(type_ for _, type_ in values)
        written = ", ".join(f"%{one}" for one in outs) + " : " + ", ".join(self.types[one] for one in outs)
        self.lines += [f"pto.{name} ins({text}{keywords}) outs({written}) {attributes}", "pto.barrier <PIPE_ALL>"]

    def loaded(
        self,
        elements: tuple[str, str],
        sizes: tuple[int, int, int],
        room: tuple[int, int, int],
        acc: str = "f32",
        layouts: tuple[str, str] = (NZ, NZ),
        acc_rows: int | None = None,
    ) -> None:
        """Views %a and %b of m, n and k; tiles %la and %rb that hold them, with room for so many; %ac for a product.

        An operand laid out as ZN comes from a view by columns.
        """
        (m, n, k), (rows, cols, depth) = sizes, room
        for name, element, size, layout in zip("ab", elements, ((m, k), (k, n)), layouts, strict=True):
            self.view(name, element, size, (1, size[0]) if layout == ZN else None)
        left, right = f"{rows}x{depth}x{elements[0]}, valid={m}x{k}", f"{depth}x{cols}x{elements[1]}, valid={k}x{n}"
        self.tile("ma", f"mat, {left}", layouts[0])
        self.tile("mb", f"mat, {right}", layouts[1])
        self.tile("la", f"left, {left}", NZ)
        self.tile("rb", f"right, {right}", ZN)
        self.tile("ac", f"acc, {acc_rows or rows}x{cols}x{acc}, valid={m}x{n}", ACC)
        for op, source, dest in (
            ("tload", "a", "ma"),
            ("tload", "b", "mb"),
            ("tmov", "ma", "la"),
            ("tmov", "mb", "rb"),
        ):
            self.op(op, [source], [dest])

    def _value(self, value: Any) -> tuple[str, str]:
        if isinstance(value, int):
            return self.number(value), "index"
        if value.startswith("%"):
            name, _, type_ = value.partition(" ")
            return name, type_ or "index"
        return f"%{value}", self.types[value]

    def __str__(self) -> str:
        parameters = [f"%{name}_gm: !pto.ptr<{element}, gm>" for name, element in self.views.items()]
        parameters += [f"%{name}: {type_}" for name, type_ in self.scalars.items()]
        lines, kind = self.lines, ", pto.kernel_kind = #pto.kernel_kind<cube>"
        if self.vector is not None:
            lines = ["pto.section.cube {", *lines, "}", "pto.section.vector {", *self.vector, "}"]
            kind = ""
        body = "\n    ".join([*self.heads.values(), *lines, "return"])
        return (
            f'module attributes {{pto.target_arch = "{self.target}"{kind}}} {{\n'
            f"  func.func @k({', '.join(parameters)}) attributes {{pto.kernel}} {{\n    {body}\n  }}\n}}\n"
        )

    def kernel(self) -> BothEngines:
        return BothEngines(ptosim.load(str(self), sync="written").kernel())

    def run(self, *arguments: Any, ok: bool = True) -> Any:
        """Run on both engines, which must agree; `ok` says whether a check finds no error. Gives its report."""
        kernel = self.kernel()
        copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
        kernel(*arguments)
        report = ptosim.check(kernel.kernel, *copies)
        assert report.ok is ok, report
        return report

    def images(self, *arguments: Any) -> Images:
        """What the run leaves in the memories of the chip."""
        return observed(self.kernel(), *arguments)


def random(element: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Values of a type that are small and exact sums of few bits."""
    rng = np.random.default_rng(seed)
    dtype = DTYPES[element]
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-100, 100, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def product(a: Any, b: Any) -> Any:
    """A matrix product: sums in doubles, rounded once; of integers as they are."""
    if a.dtype.kind in "iu":
        return a.astype(np.int64) @ b.astype(np.int64)
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
