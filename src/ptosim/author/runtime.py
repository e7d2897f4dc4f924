"""The names that rewritten code reaches: its free variable `__pto` is this module."""

from ptosim.author.control_flow import (
    advance,
    among,
    both,
    bounds,
    branch,
    chain,
    choose,
    either,
    for_range,
    item,
    leave,
    negate,
    no,
    static_test,
    turns,
    unset,
    while_loop,
    within,
    yes,
)
from ptosim.author.items import items
from ptosim.author.values import name_value

__all__ = [
    "advance",
    "among",
    "both",
    "bounds",
    "branch",
    "chain",
    "choose",
    "either",
    "for_range",
    "item",
    "items",
    "leave",
    "name_value",
    "negate",
    "no",
    "static_test",
    "turns",
    "unset",
    "while_loop",
    "within",
    "yes",
]
