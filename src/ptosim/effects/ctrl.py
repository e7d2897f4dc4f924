"""The fields of CTRL that matrix products and stores read."""

from __future__ import annotations

HIF8_BIT, TF32_BIT, TIES_AWAY_BIT = 45, 46, 47
"""Raw products: 8-bit floats are HiF8; f32 operands are rounded to tf32; that rounding takes ties away from zero."""
KEEP_BIT, PRESERVE_NAN_BIT = 48, 50
"""The mode without a clause: infinities and NaN are kept; fixpipe stores that saturate still keep NaN."""

ATOMIC_TYPES = {1: "f32", 2: "f16", 3: "si16", 4: "si32", 5: "si8", 6: "bf16"}
"""Bits 8:6: the type in which stores to GM combine; any other code is a plain store."""
ATOMIC_OPERATIONS = {0: "add", 1: "max", 2: "min"}
"""Bits 10:9."""


def atomic_fields(kind: str, operation: str) -> int:
    """The fields that say what the clause `atomic(type = kind, op = operation)` says; it writes s8 for si8."""
    types = {name.replace("si", "s"): code for code, name in ATOMIC_TYPES.items()}
    operations = {name: code for code, name in ATOMIC_OPERATIONS.items()}
    return types[kind] << 6 | operations[operation] << 9
