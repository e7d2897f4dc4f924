"""The functions behind a page of times, by number. Those of compiled code are in timekeeping.py, the others in
stopwatch.py."""

from enum import IntEnum


class Routine(IntEnum):
    """The entry of compiled code behind ROUTINES of a page."""

    WORK = 0
    HELD = 1
    PASSED = 2
    GET = 3
    BARRIER = 4
    DRAIN = 5
    BEGIN = 6
    END = 7
    FENCE = 8
    SIGNAL = 9
    HEAR = 10
    RELEASE = 11
    FLY = 12
    SEEK = 13
    PRICE = 14
    """Answered by the run time: the address of a price (page, work, key, words), or 0 if the run must end."""
    ROOM = 15
    """Answered by the run time: makes room in a part of the log (log, its word)."""


SYMBOLS = {routine: f"time_{routine.name.lower()}" for routine in Routine if routine < Routine.PRICE}
"""The functions below, by name."""
