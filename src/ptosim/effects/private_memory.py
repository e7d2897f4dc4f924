"""Buffers of a workitem, and wide accesses of UB and GM: where they lie is known to the workitem alone."""

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint
from ptosim.effects.simt import WORKITEM

_NAMES = "alloca getelementptr load store inttoptr bitcast extractelement insertelement mlir.undef mlir.constant"

EFFECTS: dict[str, Effects] = {
    name: Effects(name, Pipe.S, WORKITEM, Taint.MOVEMENT) for name in (f"llvm.{each}" for each in _NAMES.split())
}
