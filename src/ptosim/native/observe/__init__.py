"""Notes of compiled code in an observed run: for `check` (clocks and a shadow of memory, to see whether there may be
anything to report) or for `profile` (the times of the pipes).

hooks.py says where code asks its observer to add something of its own. A kernel that is not observed has none, and not
one instruction more.
"""

from typing import Literal

Observe = Literal["none", "check", "profile"]
"""The purpose that a kernel is compiled for, part of the key of the cache."""
