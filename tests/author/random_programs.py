"""Random structured functions of three i32 values, whose meaning in Python is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

NAMES = ("a", "b", "c")
HEAD = "def program(a, b, c, I, unrolled):\n"


class ProgramWriter:
    """Writes one program; loops end, since each counts."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = 0

    def text(self) -> str:
        self.lines = []
        self.lines.append("    v = [a, b]")
        self._block(1, 4, [], in_loop=False)
        self.lines.append("    c = c + v[0] - v[1]")
        return HEAD + "\n".join([*self.lines, "    return a, b, c"]) + "\n"

    def _expression(self, known: list[str], depth: int = 2) -> str:
        choice = self.random.random()
        if depth == 0 or choice < 0.35:
            return self.random.choice([*NAMES, "v[0]", "v[1]", *(f"I({name})" for name in known)])
        if choice < 0.45:
            condition = self._condition(known)
            return f"({self._expression(known, 0)} if {condition} else {self._expression(known, 0)})"
        sign = self.random.choice("+-*&|^")
        right = self.random.choice([str(self.random.randint(1, 9)), self._expression(known, depth - 1)])
        return f"({self._expression(known, depth - 1)} {sign} {right})"

    def _condition(self, known: list[str]) -> str:
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        plain = f"{self._expression(known, 1)} {sign} {self.random.randint(-5, 20)}"
        choice = self.random.random()
        if choice < 0.15:
            return f"not ({plain})"
        if choice < 0.3:
            return f"({plain} {self.random.choice(['and', 'or'])} {self._expression(known, 0)} > 3)"
        if choice < 0.4:
            return f"-3 < {self._expression(known, 0)} <= 40"
        if choice < 0.45:
            word = self.random.choice(["in", "not in"])
            return f"{self._expression(known, 0)} {word} (1, 2, {self._expression(known, 0)})"
        return plain

    def _block(self, indent: int, length: int, known: list[str], in_loop: bool, depth: int = 3) -> None:
        before = len(self.lines)
        for _ in range(self.random.randint(1, length)):
            self._statement("    " * indent, indent, known, in_loop, depth)
        if len(self.lines) == before:
            self.lines.append("    " * indent + "pass")

    def _statement(self, space: str, indent: int, known: list[str], in_loop: bool, depth: int) -> None:
        kind = self.random.choice(["set", "set", "add", "item", "items", "swap", "if", "for", "while", "static"])
        if kind == "item":
            self.lines.append(f"{space}v[{self.random.randint(0, 1)}] = {self._expression(known)}")
        elif kind == "items":
            self.lines.append(f"{space}for u in unrolled(2):")
            self.lines.append(f"{space}    v[{self.random.choice(['u', '1 - u'])}] += {self._expression(known)} + u")
        elif kind == "swap":
            first, second = self.random.sample([*NAMES, "v[0]", "v[1]"], 2)
            self.lines.append(f"{space}{first}, {second} = {second}, {self._expression(known)}")
        elif depth == 0 or kind in ("set", "add"):
            name = self.random.choice(NAMES)
            sign = "=" if kind != "add" else self.random.choice(["+=", "-=", "*="])
            self.lines.append(f"{space}{name} {sign} {self._expression(known)}")
        elif kind == "if":
            self.lines.append(f"{space}if {self._condition(known)}:")
            self._block(indent + 1, 2, known, in_loop, depth - 1)
            if self.random.random() < 0.4:
                self.lines.append(f"{space}elif {self._condition(known)}:")
                self._block(indent + 1, 2, known, in_loop, depth - 1)
            if self.random.random() < 0.6:
                self.lines.append(f"{space}else:")
                self._block(indent + 1, 2, known, in_loop, depth - 1)
            if in_loop and self.random.random() < 0.3:
                self.lines.append(f"{space}if {self._condition(known)}:")
                self.lines.append(f"{space}    {self.random.choice(['break', 'continue'])}")
        elif kind == "static":
            self.lines.append(f"{space}for _ in unrolled({self.random.randint(1, 3)}):")
            self._block(indent + 1, 2, known, False, 0)
        else:
            self._loop(space, indent, known, depth, kind)

    def _loop(self, space: str, indent: int, known: list[str], depth: int, kind: str) -> None:
        self.counters += 1
        name = f"i{self.counters}"
        turns = self.random.randint(0, 4)
        if kind == "for":
            bounds = self.random.choice([f"{turns}", f"1, {turns + 1}", f"0, {2 * turns}, 2"])
            self.lines.append(f"{space}for {name} in range({bounds}):")
            self._block(indent + 1, 3, [*known, name], True, depth - 1)
        elif self.random.random() < 0.3:
            self.lines.append(f"{space}{name} = 0")
            self.lines.append(f"{space}while ({name} := {name} + 1) <= {turns}:")
            self._block(indent + 1, 3, [*known, name], True, depth - 1)
            return
        else:
            self.lines.append(f"{space}{name} = 0")
            self.lines.append(f"{space}while {name} < {turns}:")
            self.lines.append(f"{space}    {name} += 1")
            self._block(indent + 1, 3, [*known, name], True, depth - 1)
        if self.random.random() < 0.25:
            self.lines.append(f"{space}else:")
            self._block(indent + 1, 1, known, False, 0)


def in_python(program: Callable[..., Any], values: tuple[int, int, int]) -> list[int]:
    """What a program gives on NumPy's numbers of 32 bits."""
    with np.errstate(all="ignore"):
        return [int(np.int32(each)) for each in program(*map(np.int32, values), np.int32, range)]
