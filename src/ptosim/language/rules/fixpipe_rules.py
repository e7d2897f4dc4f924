"""Rules of the clauses of fixpipe stores: element types, payloads, and clauses that go together."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from ptosim.effects.names import Space
from ptosim.language.micro.fixpipe_modes import FAMILIES, QUANT_MODES, QuantMode
from ptosim.language.operation import Problem, PTOOperation, lint
from ptosim.language.rules.operand_rules import constant_of, pointed
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import PtrType, element_name

LAYOUTS = ("nz2nd", "nz2dn", "nz2nz")
CLAUSE_WORDS = {
    "unit_flag": Vocabulary(("check_only", "check_and_clear")),
    "quant_mode": Vocabulary(tuple(QUANT_MODES)),
    "relu_mode": Vocabulary(("no_relu", "normal_relu", "scalar_relu", "vector_relu")),
    "layout": Vocabulary(LAYOUTS),
    "sat": Vocabulary(("sat", "sat_preserve_nan", "nosat")),
}
ATOMIC_WORDS = {
    "atomic_type": Vocabulary(("f32", "f16", "bf16", "s32", "s16", "s8")),
    "atomic_op": Vocabulary(("add", "max", "min")),
}
DST_MODES = {"dst_mode": Vocabulary(("split_m", "split_n"))}

PAYLOADS = ("f16", "bf16", "f32")
_SMALL_INTEGERS = ("i4", "si4", "i8", "si8", "i16", "si16")
CLIPS: dict[str, tuple[str, ...]] = {
    "f16": ("f16",),
    "ui8": ("ui16", "i16"),
    **dict.fromkeys(_SMALL_INTEGERS, _SMALL_INTEGERS),
}
"""The clip values that each destination element takes."""


# --- payloads ---------------------------------------------------------------------------------------------------------


def _scalar(role: str, value: SSAValue, mode: str) -> Iterator[Problem]:
    if element_name(value.type) not in PAYLOADS:
        message = f"{mode} needs an f16, bf16 or f32 scalar, not {value.type}"
        yield Problem(message, at=role)


def _vector(role: str, value: SSAValue, mode: str) -> Iterator[Problem]:
    type_ = value.type
    if not isinstance(type_, PtrType) or type_.space is not Space.FB:
        yield Problem(f"{mode} needs a pointer into fb, not {type_}", at=role)
    elif element_name(type_.element) not in PAYLOADS:
        yield Problem(f"{mode} needs an fb pointer to f16, bf16 or f32, not to {type_.element}", at=role)


# --- clauses ----------------------------------------------------------------------------------------------------------


ACCUMULATORS = ("f32", "i32", "si32")
"""The types of products in L0C."""


def quant_types(op: PTOOperation) -> Iterator[Problem]:
    """Mode, payload, accumulator and destination of pre_quant fit."""
    name = op.word("quant_mode")
    payload = next(iter(op.segment("quant_payload")), None)
    if (name is None) != (payload is None):
        yield Problem("pre_quant needs a payload and a mode")
    if name is None:
        yield from _unconverted(op)
    if name is None or payload is None:
        return
    mode = QUANT_MODES[name]
    if mode.payload == "vector":
        yield from _vector("quant_payload", payload, name)
    elif mode.payload == "scalar":
        yield from _scalar("quant_payload", payload, name)
    yield from _converted(op, name, mode)


def _unconverted(op: PTOOperation) -> Iterator[Problem]:
    source, dest = pointed(op, "source"), pointed(op, "dest")
    if source not in (*ACCUMULATORS, None):
        yield Problem(f"an accumulator is f32 or i32, not {source}", at="source")
    elif source is not None and dest is not None and source.removeprefix("s") != dest.removeprefix("s"):
        message = f"without pre_quant the destination has the type of the accumulator, {source}, not {dest}"
        yield lint(message, at="dest")


def _converted(op: PTOOperation, name: str, mode: QuantMode) -> Iterator[Problem]:
    source, dest = pointed(op, "source"), pointed(op, "dest")
    if mode.source is not None and source not in (mode.source, None):
        yield Problem(f"{name} converts {mode.source}, but the accumulator is {source}", at="quant_mode")
    if mode.dest is not None and dest is not None and dest not in FAMILIES[mode.dest]:
        yield Problem(f"{name} gives {_family(mode)}, but the destination is {dest}", at="quant_mode")


def _family(mode: QuantMode) -> str:
    """The kind of destination of a mode, as a sentence has it."""
    if mode.dest is None or len(FAMILIES[mode.dest]) == 1:
        return str(mode.dest)
    return f"{'an' if mode.dest.startswith('8') else 'a'} {mode.dest}"


def relu_types(op: PTOOperation) -> Iterator[Problem]:
    """Mode and payload of pre_relu fit."""
    mode = op.word("relu_mode")
    payload = next(iter(op.segment("relu_payload")), None)
    clip = next(iter(op.segment("clip")), None)
    if mode is None:
        if payload is not None or clip is not None:
            yield Problem("a relu payload and a clip value belong to pre_relu")
    elif mode in ("no_relu", "normal_relu"):
        if payload is not None:
            yield Problem(f"{mode} takes no payload", at="relu_payload")
    elif payload is None:
        yield Problem(f"{mode} needs a payload: pre_relu(%payload, mode = {mode})", at="relu_mode")
    elif mode == "scalar_relu":
        yield from _scalar("relu_payload", payload, mode)
    else:
        yield from _vector("relu_payload", payload, mode)


def clip_types(op: PTOOperation) -> Iterator[Problem]:
    """The clip value fits the destination."""
    clip = next(iter(op.segment("clip")), None)
    dest = pointed(op, "dest")
    if clip is None or dest is None:
        return
    if dest not in CLIPS:
        known = ", ".join(CLIPS)
        yield Problem(f"clip does not apply to a destination of {dest}; known: {known}", at="clip")
    elif element_name(clip.type) not in CLIPS[dest]:
        known = " or ".join(CLIPS[dest])
        yield Problem(f"the clip value for a destination of {dest} must be {known}, not {clip.type}", at="clip")


def clauses_together(op: PTOOperation) -> Iterator[Problem]:
    """Layout, unit flag and loop3 go together."""
    layout = op.word("layout")
    loop0 = next(iter(op.segment("loop0_stride")), None)
    if (loop0 is None) == (layout == "nz2dn"):
        yield Problem("nz2dn, and only nz2dn, has the source stride of loop0", at="layout")
    if op.segment("split") and layout != "nz2nz":
        yield Problem("only nz2nz has a split", at="split")
    if layout == "nz2dn" and op.attribute("unit_flag") is not None and constant_of(loop0) != 1:
        yield Problem("unit_flag with nz2dn needs a loop0 stride that is the constant 1", at="loop0_stride")
    if layout == "nz2nz" and pointed(op, "dest") not in ("f32", None):
        yield Problem(f"nz2nz needs a destination of f32, not of {pointed(op, 'dest')}", at="nz2nz")
    loop3 = [role for role in ("loop3_count", "loop3_source_stride", "loop3_dest_stride") if op.segment(role)]
    if loop3 and layout not in ("nz2nd", "nz2dn"):
        yield Problem("loop3 needs nz2nd or nz2dn, written out", at="loop3")
    if len(loop3) not in (0, 3):
        yield Problem("loop3 needs a count, a source stride and a destination stride", at="loop3")
