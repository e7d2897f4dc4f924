"""Ways of an accumulator through the fixpipe: its destination, element type and quantisation.

tstore, tmov, textract and tinsert share these rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute

from ptosim.language.operation import Problem
from ptosim.language.rules.tile_place_rules import holds, lies_in, signed_word, unsigned_name
from ptosim.language.rules.tile_rules import at_type, name_of
from ptosim.language.tile.tile_operation import TileOperation

CONVERTED = {"f32": frozenset({"f32", "f16", "bf16"}), "i32": frozenset({"i32"})}
"""The results of an accumulator without a parameter."""

QUANTISED = {
    "a5": {
        "f32": frozenset({"f32", "f16", "bf16", "i8", "f8E4M3FN", "hif8"}),
        "i32": frozenset({"i8", "f16", "bf16"}),
    },
    "a2a3": {"f32": frozenset({"i8"}), "i32": frozenset({"i8", "f16"})},
}
"""The results with a parameter: one for all columns, or one for each."""

WINDOWS_ALSO = {"a5": {}, "a2a3": {"i32": frozenset({"i16"})}}
"""Further results of windows of an accumulator, with a parameter."""

PARAMETERS = ("i64", "f16", "bf16", "f32")
"""Elements of a tile of parameters: whole parameter words, or scales."""

RELUS = ("no_relu", "normal_relu")
"""Words that need no parameter of their own; there is no operand for one."""


def leaves(op: TileOperation, target: str, element: Attribute, window: bool = False) -> Iterator[Problem]:
    """The rules of the source tile: an accumulator becomes what it can, anything else takes no parameter."""
    yield from _parameters(op)
    if op.tile("src").loc != "acc":
        yield from _only_accumulators(op)
        return
    yield from _relu(op)
    source, dest = signed_word(op.tile("src").element), unsigned_name(element)
    quantised = op.has("fp") or op.has("pre_quant")
    known = (QUANTISED[target] if quantised else CONVERTED).get(source)
    if known is not None and quantised and window:
        known |= WINDOWS_ALSO[target].get(source, frozenset[str]())
    if known is None:
        yield at_type(op, "src", "in acc to hold f32 or i32", source)
    elif dest not in known:
        how = "with a quantisation parameter" if quantised else "without a quantisation parameter"
        expected = f"of {source} in acc {how} to have elements of {', '.join(sorted(known))} on {target}"
        yield at_type(op, "dst", expected, name_of(element))


def _parameters(op: TileOperation) -> Iterator[Problem]:
    if op.has("fp"):
        yield from lies_in(op, "fp", "scaling")
        yield from holds(op, "fp", PARAMETERS)
        if op.has("pre_quant"):
            yield Problem("either fp or a scalar quantises, not both", at="pre_quant")
    for value in op.segment("pre_quant"):
        if value.type != i64:
            yield at_type(op, "pre_quant", "to be i64, a parameter word", value.type)


def _only_accumulators(op: TileOperation) -> Iterator[Problem]:
    found = op.tile("src").loc
    for role in ("fp", "pre_quant"):
        if op.has(role):
            yield Problem(f"only a move out of acc is quantised; src is in {found}", at=role)
    if op.setting("reluPreMode") != "no_relu":
        yield Problem(f"reluPreMode is for moves out of acc; src is in {found}", at="reluPreMode")


def _relu(op: TileOperation) -> Iterator[Problem]:
    if (word := op.setting("reluPreMode")) not in RELUS:
        message = f"reluPreMode {word} needs a parameter that no operand gives; known: {', '.join(RELUS)}"
        yield Problem(message, at="reluPreMode")


def splits(op: TileOperation) -> Iterator[Problem]:
    """`accToVecMode` says which vector core gets what: only of an accumulator that goes to UB."""
    mode = op.word("accToVecMode")
    if mode is None:
        return
    src, dst = op.tile("src"), op.tile("dst")
    if (src.loc, dst.loc) != ("acc", "vec"):
        message = f"accToVecMode is for moves from acc to vec, not from {src.loc} to {dst.loc}"
        yield Problem(message, at="accToVecMode")
    elif mode.startswith("dual_mode"):
        yield from _halves(op, mode)


def _halves(op: TileOperation, mode: str) -> Iterator[Problem]:
    """Each vector core gets one half, as it is or clipped at zero."""
    if op.has("fp") or op.has("pre_quant"):
        yield Problem(f"accToVecMode {mode} cannot quantise", at="accToVecMode")
    if op.tile("dst").element_bytes != 4:
        yield at_type(op, "dst", f"of accToVecMode {mode} to have elements of 4 bytes", name_of(op.tile("dst").element))
    if op.tile("dst").layout == "DN":
        yield at_type(op, "dst", f"of accToVecMode {mode} to be laid out as ND or NZ", "DN")
    axis, step = (0, 2) if mode.endswith("split_m") else (1, 32)
    extent = op.tile("src").valid[axis]
    if extent is not None and extent % step:
        side = ("rows", "columns")[axis]
        yield at_type(op, "src", f"of accToVecMode {mode} to have a multiple of {step} valid {side}", extent)
