"""Explanations of the kinds of findings: a text, a small kernel that has the finding, and the same kernel repaired.

Some have a second of each, for what they are between ranks.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches, unified_diff
from functools import cache
from importlib.resources import files
from typing import Any

from ptosim.diagnostics import SEVERITY, error


@dataclass(frozen=True)
class Explanation:
    """One kind. `arguments` are words of the command line."""

    kind: str
    says: str
    repair: str
    kernel: str
    repaired: str
    arguments: tuple[str, ...]
    repaired_arguments: tuple[str, ...]
    ranks: int | None = None
    form: str = ""
    """The part of a name that tells its kernels from those of other explanations of the kind."""
    between_ranks: Explanation | None = None
    file: str = ""
    """The kernel in commands and findings."""

    @property
    def severity(self) -> str:
        return SEVERITY[self.kind]

    @property
    def changes(self) -> str:
        """The repair as a difference of lines; empty where it is in the arguments."""
        before, after = self.kernel.splitlines(), self.repaired.splitlines()
        _, _, *lines = [*unified_diff(before, after, lineterm="", n=1)] or ["", ""]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """All of it; the second explanation, if there is one, in the same form."""
        second = None if self.between_ranks is None else self.between_ranks.to_json()
        return {**asdict(self), "severity": self.severity, "changes": self.changes, "between_ranks": second}


def kinds() -> tuple[str, ...]:
    """Every kind that can be explained."""
    return tuple(_texts("kinds.toml"))


@cache
def explanation(kind: str) -> Explanation:
    """The explanation of a kind."""
    if kind not in kinds():
        near = get_close_matches(kind, kinds(), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise error("argument", f"there is no kind '{kind}'{meant}; the kinds are {', '.join(kinds())}")
    other = _texts("ranks.toml").get(kind)
    between_ranks = None if other is None else _made(kind, other, ".ranks", None)
    return _made(kind, _texts("kinds.toml")[kind], "", between_ranks)


def _made(kind: str, words: Mapping[str, Any], form: str, between_ranks: Explanation | None) -> Explanation:
    kernel = _read(f"{kind}{form}.pto")
    repaired = files(__name__).joinpath(f"{kind}{form}.repaired.pto")
    arguments = tuple(words["arguments"])
    return Explanation(
        kind,
        words["says"].strip(),
        words["repair"].strip(),
        kernel,
        repaired.read_text("utf-8") if repaired.is_file() else kernel,
        arguments,
        tuple(words.get("repaired_arguments", arguments)),
        words.get("ranks"),
        form,
        between_ranks,
        f"{kind}{form}.pto",
    )


@cache
def _texts(name: str) -> Mapping[str, Any]:
    return tomllib.loads(_read(name))


def _read(name: str) -> str:
    return files(__name__).joinpath(name).read_text("utf-8")
