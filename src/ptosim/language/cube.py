"""What the instructions of the cube core share. Their rooms are cube_load, mad and fixpipe."""

from __future__ import annotations

from ptosim.effects.names import CoreKind
from ptosim.language.operation import PTOOperation


class CubeOperation(PTOOperation):
    """An instruction that only the cube core has; there are no vector scopes there."""

    placement = "outside"
    cores = (CoreKind.AIC,)
