"""The proper names of the machine: pipes, memory spaces, kinds of core; strings, so that they print as themselves."""

from enum import StrEnum


class Pipe(StrEnum):
    """An issue queue of a core (`S` is the scalar unit itself, `ALL` stands for every pipe in a barrier)."""

    S = "S"
    V = "V"
    M = "M"
    MTE1 = "MTE1"
    MTE2 = "MTE2"
    MTE3 = "MTE3"
    FIX = "FIX"
    ALL = "ALL"


class Space(StrEnum):
    """A memory space, in the spelling the printer uses."""

    GM = "gm"
    UB = "ub"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    BT = "bt"
    FB = "fb"
    """The first segment of the fixpipe buffer: quantisation words."""
    FB_RELU = "fb_relu"
    """Its second segment, which pointers into fb reach from address 0x10000 on: relu words."""
    SCALE_A = "scale_a"
    """MX scales of L0A. They have no pointers: a scale lies at the address of its data divided by 16."""
    SCALE_B = "scale_b"


GM, UB = Space.GM, Space.UB
"""For code that every access passes: looking a member up in its enumeration takes Python 3.11 a quarter microsecond."""


class CoreKind(StrEnum):
    """The two kinds of core of a cluster."""

    AIC = "aic"
    AIV = "aiv"


PIPES_OF: dict[CoreKind, tuple[Pipe, ...]] = {
    CoreKind.AIC: (Pipe.S, Pipe.MTE2, Pipe.MTE1, Pipe.M, Pipe.FIX),
    CoreKind.AIV: (Pipe.S, Pipe.MTE2, Pipe.V, Pipe.MTE3),
}

# Entries of these pipes end one after the other; those of MTE2 and MTE3 may overlap and end in any order.
SERIAL_PIPES = frozenset({Pipe.V, Pipe.M, Pipe.FIX, Pipe.MTE1})

SPECIAL_REGISTERS = ("AR", "SQZN", "VMS4_SR")
"""The special registers of the vector unit, whose values may come from data."""
