"""Code that one of the two vector cores of a cluster runs, although both have the program."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region

from ptosim.language.builder import Builder
from ptosim.language.structure.control import If, Yield


def on_first_core(build: Builder, inside: Block) -> None:
    """Put a block here under the condition that this is the first vector core."""
    first, otherwise = build.compare("eq", build.get_subblock_idx(result=i64), 0), Block()
    for block in (inside, otherwise):
        with build.into(block):
            build.add(Yield.make({}))
    build.add_region(If.make({"cond": first}, regions=[Region(inside), Region(otherwise)]))
