"""One vector instruction in a kernel of its own: operands come from GM through UB, results go back the same way.

An instruction is written as in a kernel, with `V<f32>` for `!pto.vreg<64xf32>` and `M<b32>` for `!pto.mask<b32>`:

    run("%d = pto.vadds %a, %s, %m : V<f32>, f32, M<b32> -> V<f32>", a=[1, 2], s=0.5)

Registers are sequences, filled up with zeros; masks are the numbers of active lanes (all, if not given) or an image of
256 bits; scalars are numbers. Lines before the instruction define what it uses besides. `VectorProgram` runs many rows
of raw bytes at once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from both_engines import BothEngines
from ptosim import api
from ptosim.effects.element import ELEMENTS, Element, element

Array = NDArray[Any]

SLOT = 256  # bytes in UB for each operand and result of a row
UB_BYTES = 253_952  # what the kernels below may use
PREFIXED = frozenset({"hif8", "hif8x2", "f8E8M0", "f4E1M2x2", "f4E2M1x2", "bf16x2"})

_TYPE = re.compile(r"(?:(?P<vector>V)|(?P<mask>M))?<?(?P<name>\w+)>?")


def written(name: str) -> str:
    """An element type as it is spelt in a kernel."""
    return f"!pto.{name}" if name in PREFIXED else name


def dtype_of(kind: Element) -> np.dtype[Any]:
    """Lanes of an element as a test reads them: numbers, and the codes of formats narrower than 16 bits."""
    named = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
    sign = "i" if kind.kind == "signed" else "u"
    return np.dtype(named.get(kind.name) or f"{sign}{kind.bytes}")


@dataclass(frozen=True)
class Slot:
    """An operand or result: its name in the text, what it is, and its element (of a mask: one as wide as its lanes)."""

    name: str
    kind: str  # "vector", "mask" or "scalar"
    element: Element

    @property
    def type(self) -> str:
        if self.kind == "vector":
            return f"!pto.vreg<{self.element.lanes}x{written(self.element.name)}>"
        return f"!pto.mask<b{self.element.bits}>" if self.kind == "mask" else self.element.name

    def image(self, given: Any) -> Array:
        """The bytes of a value, as many as a slot has."""
        if self.kind == "mask":
            return self._mask_image(given)
        values = [given] if self.kind == "scalar" else given
        if not isinstance(values, np.ndarray):
            numeric = self.element.is_float
            values = np.array(list(values), dtype_of(self.element)) if numeric else lanes_of(self.element.name, values)
        filled = np.zeros(SLOT // self.element.bytes, dtype_of(self.element))
        filled[: len(values)] = values
        return filled.view(np.uint8)

    def _mask_image(self, given: Any) -> Array:
        bits = np.zeros(SLOT, np.bool_)
        if isinstance(given, np.ndarray):
            bits[:] = given
        else:
            lanes = range(self.element.lanes) if given is None else given
            bits[[lane * self.element.bytes for lane in lanes]] = True
        return np.concatenate([np.packbits(bits, bitorder="little"), np.zeros(SLOT - 32, np.uint8)])

    def value(self, image: Array) -> Array:
        """The lanes of a register, or the 256 bits of a mask."""
        if self.kind == "mask":
            return np.unpackbits(image[:32], bitorder="little")
        return image.view(dtype_of(self.element))


def slot(name: str, type_: str) -> Slot:
    match = _TYPE.fullmatch(type_)
    assert match, f"{type_} is not a type of this notation"
    if match["mask"]:
        return Slot(name, "mask", element(f"i{match['name'][1:]}"))
    return Slot(name, "vector" if match["vector"] else "scalar", ELEMENTS[match["name"]])


@dataclass(frozen=True)
class VectorProgram:
    """A kernel around an instruction. Operands that the type list leaves out are of type index."""

    instruction: str
    sets_ctrl: bool = False

    @cached_property
    def operands(self) -> tuple[Slot, ...]:
        *before, last = self.instruction.splitlines()
        text, _, types = last.partition(" : ")
        names = re.findall(r"%(\w+)", text.partition("=")[2])
        listed = [type_.strip() for type_ in types.partition("->")[0].split(",")]
        listed += ["index"] * (len(names) - len(listed))
        defined = {line.partition("=")[0].strip("% ") for line in before}
        return tuple(slot(name, type_) for name, type_ in zip(names, listed, strict=True) if name not in defined)

    @cached_property
    def results(self) -> tuple[Slot, ...]:
        last = self.instruction.splitlines()[-1]
        names = re.findall(r"%(\w+)", last.partition("=")[0])
        types = last.partition("->")[2].split(",")
        return tuple(slot(name, type_.strip()) for name, type_ in zip(names, types, strict=True))

    @property
    def rows_at_once(self) -> int:
        return UB_BYTES // (SLOT * (len(self.operands) + len(self.results)))

    @cached_property
    def text(self) -> str:
        return kernel_text([self], self.sets_ctrl)

    @cached_property
    def kernel(self) -> api.Kernel:
        return api.load(self.text).kernel()

    def run(
        self, images: Mapping[str, Array], ctrl: int = 0, kernel: Callable[..., None] | None = None, **options: Any
    ) -> list[Array]:
        """Results as rows of raw bytes, from rows of bytes for each operand; on this kernel or on one made of it."""
        rows = len(next(iter(images.values())))
        assert rows <= self.rows_at_once
        given = np.stack([images[operand.name] for operand in self.operands], axis=1)
        out = np.full((rows, len(self.results), SLOT), 0xA5, np.uint8)
        numbers = (rows, ctrl) if self.sets_ctrl else (rows,)
        (kernel or self.kernel)(np.ascontiguousarray(given), out, *numbers, **options)
        return [np.ascontiguousarray(out[:, number]) for number in range(len(self.results))]


@lru_cache(maxsize=300)  # what a test draws from many times; all that there are would fill the memory
def program(instruction: str, sets_ctrl: bool = False) -> VectorProgram:
    return VectorProgram(instruction, sets_ctrl)


def run(instruction: str, ctrl: int | None = None, **given: Any) -> Any:
    """The results of an instruction on these operands: lanes of registers, bits of masks."""
    made = program(instruction, ctrl is not None)
    assert set(given) <= {operand.name for operand in made.operands}
    images = {operand.name: operand.image(given.get(operand.name))[np.newaxis] for operand in made.operands}
    taken = made.run(images, ctrl or 0, BothEngines(made.kernel))
    values = [result.value(image[0]) for result, image in zip(made.results, taken, strict=True)]
    return values[0] if len(values) == 1 else tuple(values)


def bits(values: Any, dtype: Any = None) -> list[int]:
    """The bit patterns of numbers of a type, for comparisons that tell zeros and NaNs apart."""
    array = np.ascontiguousarray(values if dtype is None else np.array(values, dtype))
    return array.view(f"u{array.itemsize}").tolist()


def lanes_of(kind: str, patterns: Iterable[int]) -> Array:
    """Lanes with these bit patterns."""
    target = dtype_of(ELEMENTS[kind])
    return np.array([pattern % (1 << 8 * target.itemsize) for pattern in patterns], f"u{target.itemsize}").view(target)


def mask_type(kind: str) -> str:
    """The mask that governs registers of an element type; b32 also for 64 bits, where it has two lanes for each."""
    return f"M<{ELEMENTS[kind].mask_granularity}>"


def unary(name: str, kind: str) -> str:
    return f"%d = pto.{name} %a, %m : V<{kind}>, {mask_type(kind)} -> V<{kind}>"


def binary(name: str, kind: str) -> str:
    return f"%d = pto.{name} %a, %b, %m : V<{kind}>, V<{kind}>, {mask_type(kind)} -> V<{kind}>"


def with_scalar(name: str, kind: str, scalar: str | None = None) -> str:
    return f"%d = pto.{name} %a, %s, %m : V<{kind}>, {scalar or kind}, {mask_type(kind)} -> V<{kind}>"


# --- the text ---------------------------------------------------------------------------------------------------------


def kernel_text(programs: Sequence[VectorProgram], sets_ctrl: bool = False) -> str:
    """A kernel that runs instructions one after the other, each on all rows; a row has the slots of all of them."""
    in_slots = sum(len(program.operands) for program in programs)
    out_slots = sum(len(program.results) for program in programs)
    out = UB_BYTES - UB_BYTES // (SLOT * (in_slots + out_slots)) * out_slots * SLOT
    counts = sorted({1, 2, 4, 8, *(SLOT * n for n in range(max(6, in_slots + 1, out_slots + 1)))})
    ctrl, set_ctrl = (", %ctrl: i64", "pto.set_ctrl %ctrl : i64") if sets_ctrl else ("", "")
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @kernel(%given: !pto.ptr<ui8, gm>, %taken: !pto.ptr<ui8, gm>, %rows: i32{ctrl}) attributes {{pto.kernel}} {{
    {_lines(f"%c{number} = arith.constant {number} : index" for number in counts)}
    %zero = arith.constant 0 : i64
    %slot = arith.constant {SLOT} : i64
    %out_address = arith.constant {out} : i64
    %in_slots = arith.constant {in_slots} : i64
    %out_slots = arith.constant {out_slots} : i64
    %n = arith.index_cast %rows : i32 to index
    %n_i64 = arith.extsi %rows : i32 to i64
    %in_count = arith.muli %n_i64, %in_slots : i64
    %out_count = arith.muli %n_i64, %out_slots : i64
    %in = pto.castptr %zero : i64 -> !pto.ptr<ui8, ub>
    %out = pto.castptr %out_address : i64 -> !pto.ptr<ui8, ub>
    {set_ctrl}
    pto.mte_gm_ub %given, %in, %zero, %slot nburst(%in_count, %slot, %slot)
      : !pto.ptr<ui8, gm>, !pto.ptr<ui8, ub>, i64, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.vecscope {{
      %all = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
      {_lines(_loops(programs, in_slots, out_slots))}
    }}
    pto.barrier #pto.pipe<PIPE_ALL>
    pto.mte_ub_gm %out, %taken, %slot nburst(%out_count, %slot, %slot)
      : !pto.ptr<ui8, ub>, !pto.ptr<ui8, gm>, i64, i64, i64, i64
    pto.barrier #pto.pipe<PIPE_ALL>
    return
  }}
}}
"""


def _loops(programs: Sequence[VectorProgram], in_slots: int, out_slots: int) -> Iterator[str]:
    given = taken = 0
    for program in programs:
        yield "scf.for %row = %c0 to %n step %c1 {"
        yield from _addresses("given", given, len(program.operands), in_slots)
        yield from _addresses("taken", taken, len(program.results), out_slots)
        for number, operand in enumerate(program.operands):
            yield from _load(operand, f"%given{number}")
        yield from re.sub(r"\b[VM]<\w+>", lambda match: slot("", match[0]).type, program.instruction).splitlines()
        for number, result in enumerate(program.results):
            yield from _store(result, f"%taken{number}")
        yield "}"
        given, taken = given + len(program.operands), taken + len(program.results)


def _lines(lines: Iterable[str]) -> str:
    return "\n        ".join(lines)


def _addresses(name: str, first: int, count: int, slots: int) -> Iterator[str]:
    """%name0, %name1 ...: where slots of this row are, in bytes."""
    start = f"%{name}_row" if first else f"%{name}0"
    yield f"{start} = arith.muli %row, %c{SLOT * slots} : index"
    for number in range(0 if first else 1, count):
        yield f"%{name}{number} = arith.addi {start}, %c{SLOT * (first + number)} : index"


def _load(operand: Slot, address: str) -> Iterator[str]:
    name, raw = f"%{operand.name}", f"%raw_{operand.name}"
    if operand.kind == "vector":
        yield f"{raw} = pto.vlds %in[{address}] : !pto.ptr<ui8, ub> -> !pto.vreg<256xui8>"
        yield f"{name} = pto.vbitcast {raw} : !pto.vreg<256xui8> -> {operand.type}"
    elif operand.kind == "mask":
        yield f'{name} = pto.plds %in[{address}], "NORM" : !pto.ptr<ui8, ub>, index -> {operand.type}'
    else:
        stored = "i64" if operand.type == "index" else operand.type
        place, pointer = f"%place_{operand.name}", f"%scalar_{operand.name}"
        yield f"{place} = arith.divui {address}, %c{operand.element.bytes} : index"
        yield f"{pointer} = pto.castptr %in : !pto.ptr<ui8, ub> -> !pto.ptr<{stored}, ub>"
        loaded = raw if operand.type == "index" else name
        yield f"{loaded} = pto.load_scalar {pointer}[{place}] : !pto.ptr<{stored}, ub> -> {stored}"
        if operand.type == "index":
            yield f"{name} = arith.index_cast {raw} : i64 to index"


def _store(result: Slot, address: str) -> Iterator[str]:
    if result.kind == "scalar":
        place, pointer, type_ = f"%place_{result.name}", f"%scalar_{result.name}", result.type
        yield f"{place} = arith.divui {address}, %c{result.element.bytes} : index"
        yield f"{pointer} = pto.castptr %out : !pto.ptr<ui8, ub> -> !pto.ptr<{type_}, ub>"
        yield f"pto.store_scalar %{result.name}, {pointer}[{place}] : !pto.ptr<{type_}, ub>, {type_}"
        return
    if result.kind == "mask":
        yield f'pto.psts %{result.name}, %out[{address}], "NORM" : {result.type}, !pto.ptr<ui8, ub>, index'
        return
    yield f"%bytes_{result.name} = pto.vbitcast %{result.name} : {result.type} -> !pto.vreg<256xui8>"
    yield f"pto.vsts %bytes_{result.name}, %out[{address}], %all : !pto.vreg<256xui8>, !pto.ptr<ui8, ub>, !pto.mask<b8>"
