"""Kernels of several ranks: a writer of their texts, and runs of them on both engines.

Windows are reached as public kernels do it: a helper reads the device context and gives the distance to the peer, and
pto.addptr takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ptosim
from tile_programs import DTYPES

ENGINES = ("reference", "native")
RANKS = (1, 2, 4, 8)

WIDTHS = {"i8": 1, "ui8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8}


def dtype_of(element: str) -> np.dtype[Any]:
    return np.dtype(DTYPES[element])


def helper(element: str) -> str:
    """The distance from the own window to that of a peer, in elements."""
    return f"""
  func.func private @CommRemoteOffset_{element}(%ctx: !pto.ptr<i64>, %peer: index) -> index {{
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %width = arith.constant {WIDTHS[element]} : i64
    %mask = arith.constant 4294967295 : i64
    %word = pto.load_scalar %ctx[%c2] : !pto.ptr<i64> -> i64
    %rank = arith.andi %word, %mask : i64
    %rank_index = arith.index_cast %rank : i64 to index
    %mine_at = arith.addi %rank_index, %c4 : index
    %theirs_at = arith.addi %peer, %c4 : index
    %mine = pto.load_scalar %ctx[%mine_at] : !pto.ptr<i64> -> i64
    %theirs = pto.load_scalar %ctx[%theirs_at] : !pto.ptr<i64> -> i64
    %bytes = arith.subi %theirs, %mine : i64
    %elements = arith.divsi %bytes, %width : i64
    %offset = arith.index_cast %elements : i64 to index
    return %offset : index
  }}"""


@dataclass
class Writer:
    """The body of a kernel, line by line. Values are numbered; constants are made when they are wanted."""

    parameters: dict[str, str]
    target: str = "a5"
    lines: list[str] = field(default_factory=list[str])
    known: dict[tuple[int, str], str] = field(default_factory=dict[tuple[int, str], str])
    helpers: set[str] = field(default_factory=set[str])
    count: int = 0

    def new(self, text: str, prefix: str = "v") -> str:
        self.count += 1
        name = f"%{prefix}{self.count}"
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(text)

    def constant(self, value: int, type_: str = "index") -> str:
        if (value, type_) not in self.known:
            self.count += 1
            self.known[value, type_] = f"%k{self.count}"
        return self.known[value, type_]

    def remote(self, pointer: str, element: str, peer: str, context: str = "%ctx") -> str:
        """The same place in the window of a peer (an index)."""
        self.helpers.add(element)
        call = f"func.call @CommRemoteOffset_{element}({context}, {peer}) : (!pto.ptr<i64>, index) -> index"
        return self.new(f"pto.addptr {pointer}, {self.new(call)} : <{element}> -> <{element}>", "p")

    def index(self, value: str, type_: str = "i32") -> str:
        return self.new(f"arith.index_cast {value} : {type_} to index")

    def neighbour(self, step: int) -> str:
        """The rank so many further on, of parameters %rank and %ranks."""
        step_ = self.constant(step, "i32")
        moved = self.new(f"arith.addi %rank, {step_} : i32")
        around = self.new(f"arith.addi {moved}, %ranks : i32")
        return self.index(self.new(f"arith.remsi {around}, %ranks : i32"))

    def view(
        self, pointer: str, shape: Sequence[int], element: str, strides: Sequence[int] | None = None, at: str = ""
    ) -> tuple[str, str]:
        """A partition of a view of all of it, and its type; `at`: elements behind the pointer, an index."""
        if at:
            pointer = self.new(f"pto.addptr {pointer}, {at} : <{element}> -> <{element}>", "p")
        steps = list(strides or (int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))))
        sides, extents = "x".join(map(str, shape)), [self.constant(side) for side in shape]
        named = ", ".join(extents), ", ".join(self.constant(step) for step in steps)
        whole = self.new(
            f"pto.make_tensor_view {pointer}, shape = [{named[0]}], strides = [{named[1]}] "
            f": !pto.tensor_view<{sides}x{element}>"
        )
        zeros = ", ".join(self.constant(0) for _ in shape)
        part = self.new(
            f"pto.partition_view {whole}, offsets = [{zeros}], sizes = [{named[0]}] "
            f": !pto.tensor_view<{sides}x{element}>"
        )
        return part, f"!pto.partition_tensor_view<{sides}x{element}>"

    def part(self, pointer: str, shape: Sequence[int], element: str, sizes: Sequence[str]) -> tuple[str, str]:
        """The first rows and columns of a view, as many as values say."""
        whole = self.view(pointer, shape, element)[0]
        text = self.lines.pop()  # a partition of all of it is not wanted
        source = text.split("pto.partition_view ")[1].partition(",")[0]
        zeros = ", ".join(self.constant(0) for _ in shape)
        type_ = f"!pto.partition_tensor_view<{'x'.join('?' for _ in shape)}x{element}>"
        tensor = text.rpartition(" : ")[2]
        self.do(
            f"{whole} = pto.partition_view {source}, offsets = [{zeros}], sizes = [{', '.join(sizes)}] "
            f": {tensor} -> {type_}"
        )
        return whole, type_

    def tile(self, type_: str) -> tuple[str, str]:
        """A tile of vec, and its type."""
        rows, cols = (int(side) for side in type_.split("x")[:2])
        valid = ""
        if "valid=?x?" in type_:
            valid = f" valid_row = {self.constant(rows)} valid_col = {self.constant(cols)}"
        type_ = f"!pto.tile_buf<vec, {type_}>"
        return self.new(f"pto.alloc_tile{valid} : {type_}"), type_

    def call(
        self, name: str, *operands: tuple[str, str] | tuple[str, Sequence[tuple[str, str]]], rest: str = ""
    ) -> None:
        """`NAME(..)`; a word with a list of operands is a group."""
        shown: list[str] = []
        types: list[str] = []
        for first, second in operands:
            members = [(first, second)] if isinstance(second, str) else second
            values = ", ".join(value for value, _ in members)
            shown.append(values if isinstance(second, str) else f"{first}({values})")
            types += [type_ for _, type_ in members]
        self.do(f"{name}({', '.join(shown)} : {', '.join(types)}){rest}")

    def fence(self) -> None:
        self.do("pto.fence.barrier_all #pto.fence_scope<gm>")

    def notify(self, word: tuple[str, str], value: int | str, op: str = "atomic_add") -> None:
        number = self.constant(value, "i32") if isinstance(value, int) else value
        self.call("pto.comm.tnotify", word, (number, "i32"), rest=f" {{notifyOp = #pto<notify_op {op}>}}")

    def wait(self, words: tuple[str, str], value: int | str, cmp: str = "ge") -> None:
        number = self.constant(value, "i32") if isinstance(value, int) else value
        self.call("pto.comm.twait", words, (number, "i32"), rest=f" {{cmp = #pto<wait_cmp {cmp}>}}")

    def text(self) -> str:
        constants = "\n".join(
            f"    {name} = arith.constant {value} : {type_}" for (value, type_), name in self.known.items()
        )
        parameters = ", ".join(f"%{name}: {type_}" for name, type_ in self.parameters.items())
        body = "\n".join(f"    {line}" for line in self.lines)
        helpers = "".join(helper(element) for element in sorted(self.helpers))
        return (
            f'module attributes {{pto.target_arch = "{self.target}"}} {{{helpers}\n'
            f"  func.func @kernel({parameters}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
            f"{constants}\n{body}\n    return\n  }}\n}}\n"
        )

    def kernel(self) -> ptosim.Kernel:
        return ptosim.load(self.text()).kernel()
