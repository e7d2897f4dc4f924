"""Predicates."""

from __future__ import annotations

import numpy as np

from ptosim.effects.predicate import pattern_lanes
from ptosim.language import predicate as op
from ptosim.reference.mask import Mask, of_lanes
from ptosim.reference.semantics import semantics


@semantics(op.PSetB32)
def pset_b32(pattern: str) -> Mask:
    return of_lanes(np.array(pattern_lanes(pattern, "b32")), 4)


@semantics(op.PltB32)
def plt_b32(count: int) -> tuple[Mask, int]:
    n = count & 0xFFFFFFFF
    return of_lanes(np.arange(64) < n, 4), n - 64 if n >= 64 else 0
