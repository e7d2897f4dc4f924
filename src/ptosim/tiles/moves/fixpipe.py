"""One store of the fixpipe: accumulators to GM, L1 or UB, converted or quantised on the way.

The form with clauses says everything itself; a parameter word and fractals of other elements than f32 need the raw
form, whose fields are packed into two words and whose parameters lie in registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ptosim.effects.names import Space
from ptosim.language.builder import Builder, Number
from ptosim.language.micro.fixpipe_modes import QUANT_MODES
from ptosim.language.rules.tile_place_rules import unsigned_name
from ptosim.language.types import PtrType

Layout = Literal["nz2nd", "nz2dn", "nz2nz"]

_CASTS = {("f32", "f16"): "f32_f16", ("f32", "bf16"): "f32_bf16"}
"""Conversions without a parameter; equal types need none."""

_QUANTISED = {
    ("f32", "f32"): "qf322f32_pre",
    ("f32", "f16"): "qf322f16_pre",
    ("f32", "bf16"): "qf322bf16_pre",
    ("f32", "i8"): "qf322b8_pre",
    ("f32", "f8E4M3FN"): "qf322fp8_pre",
    ("f32", "hif8"): "qf322hif8_pre",
    ("i32", "i8"): "req8",
    ("i32", "f16"): "deqf16",
    ("i32", "bf16"): "qs322bf16_pre",
    ("i32", "i16"): "deqs16",
}
"""The quantised stores, by accumulator and destination: a parameter for each column, or one for all."""

_ATOMIC = {"f32": "f32", "f16": "f16", "bf16": "bf16", "i32": "s32", "i16": "s16", "i8": "s8"}
_CLAUSES = {Space.GM: "mte_l0c_gm", Space.L1: "mte_l0c_l1", Space.UB: "mte_l0c_ub"}
_RAW = {Space.GM: "copy_matrix_cc_to_gm", Space.L1: "copy_matrix_cc_to_cbuf", Space.UB: "copy_matrix_cc_to_ub"}
_UNIT_FLAGS = {"check_only": 2, "check_and_clear": 3}
_LAYOUT_BITS: dict[Layout, int] = {"nz2nd": 1 << 43, "nz2dn": 1 << 62, "nz2nz": 0}
_SPLIT_BIT, _RELU_BIT, _CORE_BIT = 1 << 42, 1 << 39, 1 << 18
_HALVES = {"dual_mode_split_m": "split_m", "dual_mode_split_n": "split_n"}


@dataclass(frozen=True)
class StoreEpilogue:
    """Conversions of accumulators on their way out."""

    words: SSAValue | None = None
    """A pointer to parameter words, one for each column."""
    word: SSAValue | None = None
    """One parameter word for all columns."""
    relu: bool = False
    unit_flag: str | None = None
    adds: bool = False
    """To what GM holds."""
    cores: str = "single_mode_vec0"
    """The shares of the vector cores: a word of accToVecMode."""


@dataclass(frozen=True)
class FixpipeStore:
    """m x n accumulators from one place to another."""

    source: SSAValue
    dest: SSAValue
    m: Number
    n: Number
    source_stride: Number
    """Rows of a group of 16 columns."""
    dest_stride: Number
    """Elements from a row, a column or a block of columns to the next."""
    layout: Layout
    split: bool = False
    """Whether nz2nz makes blocks of 8 columns, of 32-bit elements."""

    @property
    def space(self) -> Space:
        assert isinstance(self.dest.type, PtrType)
        return self.dest.type.space

    @property
    def elements(self) -> tuple[str, str]:
        return _element(self.source), _element(self.dest)


def _element(pointer: SSAValue) -> str:
    assert isinstance(pointer.type, PtrType)
    return unsigned_name(pointer.type.element)


def leave(build: Builder, store: FixpipeStore, epilogue: StoreEpilogue) -> None:
    """Build the store."""
    mode = _mode(store, epilogue)
    fractals_of_others = store.layout == "nz2nz" and (
        store.elements[1] != "f32" or epilogue.cores in _HALVES  # the clauses know neither
    )
    if epilogue.word is not None or fractals_of_others:
        _raw(build, store, epilogue, mode)
    else:
        _with_clauses(build, store, epilogue, mode)


def _mode(store: FixpipeStore, epilogue: StoreEpilogue) -> str | None:
    if epilogue.words is not None:
        return f"{_QUANTISED[store.elements]}_vec"
    if epilogue.word is not None:
        return f"{_QUANTISED[store.elements]}_scalar"
    return _CASTS.get(store.elements)


# --- with clauses -----------------------------------------------------------------------------------------------------


def _with_clauses(build: Builder, store: FixpipeStore, epilogue: StoreEpilogue, mode: str | None) -> None:
    given: dict[str, object] = {
        "source": store.source,
        "dest": store.dest,
        "m": build.i64(store.m),
        "n": build.i64(store.n),
        "source_stride": build.i64(store.source_stride),
        "dest_stride": build.i64(store.dest_stride),
        "layout": store.layout,
        "unit_flag": epilogue.unit_flag,
    }
    if mode is not None:
        payload = build.constant(1.0, f32) if epilogue.words is None else epilogue.words
        given |= {"quant_mode": mode, "quant_payload": payload}
    if epilogue.relu:
        given["relu_mode"] = "normal_relu"
    if store.layout == "nz2dn":
        given["loop0_stride"] = build.i64(1)
    if store.layout == "nz2nz":
        given["split"] = build.i64(int(store.split))
    build.op(_CLAUSES[store.space], **given, **_place(build, store, epilogue))


def _place(build: Builder, store: FixpipeStore, epilogue: StoreEpilogue) -> dict[str, object]:
    """Operands that only stores to one of the memories have."""
    match store.space:
        case Space.GM:
            atomic = {"atomic_type": _ATOMIC[store.elements[1]], "atomic_op": "add"} if epilogue.adds else {}
            return {"sid": build.i64(0), "l2_cache_ctl": build.i64(0), **atomic}
        case Space.UB if epilogue.cores in _HALVES:
            return {"dst_mode": _HALVES[epilogue.cores]}
        case Space.UB:
            return {"sub_block": build.i64(int(epilogue.cores == "single_mode_vec1"))}
        case _:
            return {}


# --- raw --------------------------------------------------------------------------------------------------------------


def _raw(build: Builder, store: FixpipeStore, epilogue: StoreEpilogue, mode: str | None) -> None:
    _registers(build, store, epilogue)
    adds = epilogue.adds
    if adds:
        build.op(f"set_atomic_{_ATOMIC[store.elements[1]]}")
        build.set_atomic_add()
    sizes = _packed(build, (store.n, 4), (store.m, 16), (store.dest_stride, 32))
    build.op(
        _RAW[store.space],
        source=store.source,
        dest=store.dest,
        config0=build.i64(sizes),
        config1=build.i64(build.plus(store.source_stride, _control(store, epilogue, mode))),
    )
    if adds:
        build.set_atomic_none()


def _registers(build: Builder, store: FixpipeStore, epilogue: StoreEpilogue) -> None:
    build.set_loop3_para(low=build.i64(1), high=build.i64(0))
    if store.layout == "nz2dn":
        build.set_channel_para(low=build.i64(0), high=build.i64(1 << 8))
    if epilogue.word is not None:
        build.set_quant_pre(packed=epilogue.word)
    if epilogue.words is not None:
        row = build.quotient(build.castptr(input=epilogue.words, result=build.i64(0).type), 128)
        build.set_fpc(packed=build.i64(build.times(row, 1 << 8)))


def _control(store: FixpipeStore, epilogue: StoreEpilogue, mode: str | None) -> int:
    """The second word without the source stride."""
    code = 0 if mode is None else QUANT_MODES[mode].code
    word = (code & 31) << 34 | (code >> 5) << 29 | _LAYOUT_BITS[store.layout]
    word |= _SPLIT_BIT if store.split else 0
    word |= _RELU_BIT if epilogue.relu else 0
    word |= _UNIT_FLAGS.get(epilogue.unit_flag or "", 0) << 32
    if store.space is Space.UB:
        word |= ("", "split_m", "split_n").index(_HALVES.get(epilogue.cores, "")) << 16
        word |= _CORE_BIT if epilogue.cores == "single_mode_vec1" else 0
    return word


def _packed(build: Builder, *fields: tuple[Number, int]) -> Number:
    word: Number = 0
    for value, low in fields:
        word = build.plus(word, build.times(value, 1 << low))
    return word
