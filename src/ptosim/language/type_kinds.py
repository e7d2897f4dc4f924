"""Kinds of types as forms and messages call them: scalar types by name, registers and vectors by kind."""

from __future__ import annotations

from xdsl.ir import Attribute

from ptosim.language.logical_types import LogicalMaskType, LogicalVectorType
from ptosim.language.types import AlignType, MaskType, VregType, element_name

KINDS: dict[str, tuple[type[Attribute], str]] = {
    "vreg": (VregType, "a vector register"),
    "mask": (MaskType, "a mask"),
    "align": (AlignType, "!pto.align"),
    "logical": (LogicalVectorType, "a logical vector"),
    "truths": (LogicalMaskType, "a logical mask"),
    "V": (VregType, "a vector register"),
    "M": (MaskType, "a mask"),
    "T": (Attribute, "a scalar"),
}
"""Kinds of types: what forms call them, and what messages do. V, M and T belong together (language/micro/vector.py)."""


def is_called(type_: Attribute, word: str) -> bool:
    """Whether a form means a type by a word: the name of a scalar type, or a kind."""
    return isinstance(type_, KINDS[word][0]) if word in KINDS else element_name(type_) == word
