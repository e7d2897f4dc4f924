"""Scalar arithmetic: done by the scalar unit itself, or by the vector unit's own scalar lane inside a scope."""

from __future__ import annotations

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint

NAMES = (
    "arith.constant arith.addi arith.subi arith.muli arith.divsi arith.divui arith.remsi arith.remui arith.floordivsi "
    "arith.ceildivsi arith.ceildivui arith.andi arith.ori arith.xori arith.shli arith.shrsi arith.shrui arith.maxsi "
    "arith.minsi arith.maxui arith.minui arith.addui_extended arith.mulsi_extended arith.mului_extended arith.addf "
    "arith.subf arith.mulf arith.divf arith.remf arith.maximumf arith.minimumf arith.maxnumf arith.minnumf arith.negf "
    "arith.cmpi arith.cmpf arith.select arith.index_cast arith.index_castui arith.extsi arith.extui arith.trunci "
    "arith.sitofp arith.uitofp arith.fptosi arith.fptoui arith.extf arith.truncf arith.bitcast math.exp math.log "
    "math.sqrt math.absf math.absi math.floor math.ceil builtin.unrealized_conversion_cast"
).split()

EFFECTS: dict[str, Effects] = {name: Effects(name, Pipe.S, "scalar", Taint.MOVEMENT) for name in NAMES}
