"""Kernels of the cube core for tests: text written step by step, and what a run leaves in the memories of the chip."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ptosim
from both_engines import BothEngines
from ptosim.api import Kernel, Launch
from ptosim.arguments import bind
from ptosim.effects.names import Space
from ptosim.machine.observer import Footprint, Observer
from ptosim.native.ir.context import ContextWord
from ptosim.target.profile import load_target
from raw import all_raw

KIB = 1024


def round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def type_of(element: str) -> str:
    """The spelling of an element type."""
    own = ("hif8", "f4", "f8E8M0")
    return f"!pto.{element}" if element.startswith(own) else element


def pointer_type(element: str, space: str) -> str:
    return f"!pto.ptr<{type_of(element)}, {space}>"


class Text:
    """A kernel in the making. Constants and pointers get their lines when they are first asked for."""

    def __init__(self, vector: str | None = None, **parameters: str) -> None:
        """With text for the vector cores, the kernel is a mixed one."""
        self.vector = vector
        self.parameters = parameters
        self.heads: dict[str, str] = {}
        self.lines: list[str] = []

    def number(self, value: int | float | str, type_: str = "i64") -> str:
        """A constant; the name of a value stands for itself."""
        if isinstance(value, str):
            return value
        name = f"%c{len(self.heads)}"
        written = f"0x{value:X}" if isinstance(value, int) and type_.startswith(("f", "bf")) else value
        return self._head(f"arith.constant {written} : {type_}", name)

    def pointer(self, address: int, element: str, space: str) -> str:
        value = self.number(address)
        line = f"pto.castptr {value} : i64 -> {pointer_type(element, space)}"
        return self._head(line, f"%p{len(self.heads)}")

    def _head(self, line: str, name: str) -> str:
        return self.heads.setdefault(line, name)

    def line(self, line: str) -> None:
        self.lines.append(line)

    def op(self, name: str, operands: list[str], types: list[str], rest: str = "", attributes: str = "") -> None:
        """`pto.name operands rest attributes : types`."""
        self.line(f"pto.{name} {', '.join(operands)}{rest} {attributes} : {', '.join(types)}")

    def integers(self, *values: int | str) -> list[str]:
        return [self.number(value) for value in values]

    def __str__(self) -> str:
        signature = ", ".join(f"%{name}: {type_}" for name, type_ in self.parameters.items())
        heads = [f"{name} = {line}" for line, name in self.heads.items()]
        kind = "" if self.vector is not None else ", pto.kernel_kind = #pto.kernel_kind<cube>"
        body = [*heads, *self.lines]
        if self.vector is not None:
            body = [*heads, "pto.section.cube {", *self.lines, "}", "pto.section.vector {", self.vector, "}"]
        return "\n".join(
            [
                f'module attributes {{pto.target_arch = "a5"{kind}}} {{',
                f"  func.func @kernel({signature}) attributes {{pto.kernel}} {{",
                *(f"    {line}" for line in body),
                "    return",
                "  }",
                "}",
                "",
            ]
        )

    def kernel(self) -> BothEngines:
        return BothEngines(ptosim.load(str(self)).kernel())

    # --- what most kernels do -----------------------------------------------------------------------------------------

    def fractals(
        self, source: str, address: int, element: str, rows: int, columns: int, padded: int, layout: str = "nd2nz"
    ) -> None:
        """A matrix of GM into NZ order in L1; row-major it has `rows` rows, and `padded` of them in L1."""
        width = np.dtype(storage(element)).itemsize
        inner = columns * width if layout == "nd2nz" else rows * width
        self.frac(source, address, element, layout, rows, columns, (inner,), (1, 1, padded, 0))

    def frac(
        self,
        source: str,
        address: int,
        element: str,
        layout: str,
        n: int | str,
        d: int | str,
        strides: tuple[int | str, ...],
        group: tuple[int | str, ...],
        small: bool = False,
    ) -> None:
        clauses = [
            f"shape({', '.join(self.integers(n, d))})",
            f"src_layout({', '.join(self.integers(*strides))})",
            f"dst_group({', '.join(self.integers(*group))})",
            f"ctrl({self.number(0)}, {self.number(1 if small else 0, 'i1')})",
        ]
        words = [layout, "shape i64, i64", f"src_layout({', '.join(['i64'] * len(strides))})"]
        words += ["dst_group i64, i64, i64, i64", "ctrl i64, i1"]
        pointer = self.pointer(address, element, "l1")
        types = [pointer_type(element, "gm"), pointer_type(element, "l1"), *words]
        self.line(f"pto.mte_gm_l1_frac {source}, {pointer}, {layout}, {', '.join(clauses)} : {', '.join(types)}")

    def plain(self, source: str, address: int, element: str, length: int | str) -> None:
        """Bytes of GM into L1 as they are."""
        n, row = self.number(1), self.number(length)
        types = f"{pointer_type(element, 'gm')}, {pointer_type(element, 'l1')}, i64, i64, i64, i64"
        self.line(
            f"pto.mte_gm_l1 {source}, {self.pointer(address, element, 'l1')}, {row} nburst({n}, {row}, {row}) : {types}"
        )

    def load(
        self, name: str, source: int, dest: int, element: str, *fields: int | str, transpose: bool = False
    ) -> None:
        """pto.mte_l1_l0a, pto.load_cbuf_to_cb_mx and their like."""
        space = "l0a" if "l0a" in name or "_ca" in name else "l0b"
        operands = [self.pointer(source, element, "l1"), self.pointer(dest, element, space), *self.integers(*fields)]
        types = [pointer_type(element, "l1"), pointer_type(element, space), *(["i64"] * len(fields))]
        self.op(name, operands, types, attributes="{transpose = true}" if transpose else "")

    def mad(
        self,
        name: str,
        elements: tuple[str, str, str],
        m: int | str,
        n: int | str,
        k: int | str,
        clauses: str = "",
        bias: int | None = None,
        at: tuple[int, int, int] = (0, 0, 0),
    ) -> None:
        spaces = ("l0a", "l0b", "l0c")
        operands = [self.pointer(a, e, s) for a, e, s in zip(at, elements, spaces, strict=True)]
        types = [pointer_type(e, s) for e, s in zip(elements, spaces, strict=True)]
        if bias is not None:
            operands.append(self.pointer(bias, elements[2], "bt"))
            types.append(pointer_type(elements[2], "bt"))
        self.op(name, [*operands, *self.integers(m, n, k)], [*types, "i64", "i64", "i64"], f" {clauses}")

    def store(
        self,
        dest: str,
        element: str,
        m: int | str,
        n: int | str,
        stride: int | str,
        clauses: str = "nz2nd",
        source: str = "f32",
        at: int = 0,
        types: tuple[str, ...] = (),
        source_stride: int | str | None = None,
    ) -> None:
        """pto.mte_l0c_gm; `types` are those of the operands in the clauses."""
        rows = round_up(m, 16) if source_stride is None else source_stride
        operands = [self.pointer(at, source, "l0c"), dest, *self.integers(m, n, rows, stride, 0, 0)]
        listed = [pointer_type(source, "l0c"), pointer_type(element, "gm"), *(["i64"] * 6), *types]
        self.op("mte_l0c_gm", operands, listed, f", {clauses}")


def storage(element: str) -> Any:
    """The NumPy type of arrays that hold such elements."""
    known = {"f16": np.float16, "f32": np.float32, "bf16": np.uint16, "i8": np.int8, "si8": np.int8, "i32": np.int32}
    known |= {
        "ui8": np.uint8,
        "i16": np.int16,
        "si16": np.int16,
        "ui64": np.uint64,
        "ui32": np.uint32,
        "hif8x2": np.uint16,
    }
    return known.get(element, np.uint8)


class Images(Observer):
    """The memories of the chip as a run writes them. What nobody writes stays 0xEE."""

    def __init__(self) -> None:
        self.images: dict[tuple[str, Space], NDArray[np.uint8]] = {}
        self.written: dict[tuple[str, Space], NDArray[np.bool_]] = {}

    def store(self, entry: Any, site: Any, footprint: Footprint, change: Any = None) -> None:
        if footprint.owner is None:
            return
        image = self.of(footprint.space, footprint.owner.role)
        starts = np.atleast_1d(np.asarray(footprint.starts, np.int64))
        places = starts[:, None] + np.arange(footprint.width)
        image[places] = np.asarray(change.data).reshape(len(starts), -1)
        self.written.setdefault((footprint.owner.role, footprint.space), np.zeros(len(image), np.bool_))[places] = True

    def of(self, space: Space, role: str = "aic") -> NDArray[np.uint8]:
        size = load_target("a5").memory[space.value]
        return self.images.setdefault((role, space), np.full(size, 0xEE, np.uint8))


def observed(both: BothEngines, *arguments: Any, grid: int = 1) -> Images:
    """Run a kernel and keep what it wrote on the chip: on the reference engine, and the native one must agree."""
    images, kernel = Images(), both.kernel
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    kernel.reference(Launch(bind(kernel.signature, all_raw(arguments)), grid), images)()
    kernel(*all_raw(copies), grid=grid, engine="native", threads=1)
    for (role, space), written in images.written.items():
        expected = np.where(written, images.of(space, role), 0)
        np.testing.assert_array_equal(_native_memory(kernel, role, space), expected, f"the engines differ in {space}")
    return images


def _native_memory(kernel: Kernel, role: str, space: Space) -> NDArray[np.uint8]:
    """What a memory of the cluster held when the native engine had run a block."""
    cluster = kernel.linked()._runner._idle[-1]._cluster
    address = cluster.cores[role]._words[ContextWord[space.name]]
    return np.frombuffer(ctypes.string_at(address, load_target("a5").memory[space.value]), np.uint8)
