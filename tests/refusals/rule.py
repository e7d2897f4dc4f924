"""What is refused or warned of, as rows of tables (test_refusals.py).

A row is a kernel, an arrow and what is said of it, in one line or in more:

    pto.set_loop_size_outtoub ~%«0|1», %1 ⇒ loop1 is 0; it must be 1..2097151
    pto.mov ins(%a : f32) outs(%d : f32)
      ⇒ [lint warning] a message, behind the words that its room takes

A line that begins with four spaces goes on with the one above. `«wrong|right»` stands for `wrong` in the rejected
kernel and for `right` in its twin, which is accepted; `~` stands before the token that the diagnostic points at. In a
`Rule` a text without a function is the body of one, in which names say types and `%33` and `%n1` are constants
(vector_kernel, scalar_kernel).
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from golden.program import rejection
from language import vector_kernel
from language.scalar_kernel import with_constants
from language.vector_kernel import printed, read
from ptosim.diagnostics import PTOError
from refusals.kernels import expanded

_CHOICE = re.compile(r"«([^«|»]*)\|([^«|»]*)»")
_WORDS = re.compile(r"\[([\w -]+)\] (.*)", re.DOTALL)
TARGETS = {"a5", "a2a3"}


class Rule(NamedTuple):
    """What is written, wrong and right, and what is said of the wrong; a message may end in `...`."""

    text: str
    message: str
    kind: str = "invalid"
    target: str | None = None
    severity: str = "error"
    noted: tuple[str, ...] = ()
    """What the twin is warned of all the same."""
    scope: bool = False
    """Whether the body of a function stands in a vector scope."""

    def holds(self) -> None:
        """The wrong text has exactly this diagnostic at its marker, the right one none; it prints stably."""
        assert _CHOICE.search(self.text), "the text does not say how its twin differs"
        wrong, right = (_CHOICE.sub(rf"\{choice}", self.text) for choice in (1, 2))
        before, marker, after = _module(wrong, self.scope).partition("~")
        assert marker, "the text does not say where the diagnostic belongs"
        place = (before.count("\n") + 1, len(before) - before.rfind("\n"))
        found = _diagnostics(before + after, self)
        message = self.message.removesuffix("...")
        seen = [(said[: len(message)] if self.message.endswith("...") else said, at) for said, at in found]
        assert seen == [(message, place)]
        _accepts(_module(right, self.scope).replace("~", ""), self)


class Line(NamedTuple):
    """What the documents say a verifier must refuse, in no certain words: the one fault of a good kernel.

    Lines that belong together are joined by a broken bar; the one to be blamed is the last, or begins with an
    exclamation mark.
    """

    text: str
    build: Callable[[str], str]
    """The kernel around it (kernels.py)."""

    def holds(self) -> None:
        """The first diagnostic is an error of a fitting kind at that line."""
        pieces = self.text.split(" ¦ ")
        marked = [number for number, piece in enumerate(pieces) if piece.startswith("! ")]
        blamed = marked[0] if marked else len(pieces) - 1
        text = self.build("\n      ".join(piece.removeprefix("! ") for piece in pieces))
        first = expanded(pieces[0].removeprefix("! "))
        start = next(number for number, line in reversed(list(enumerate(text.split("\n"), 1))) if line.strip() == first)
        found = rejection(text).diagnostics[0]
        assert found.kind in DOCUMENTED and found.severity == "error"
        assert found.line == start + blamed, str(found)
        assert found.message


class Row(NamedTuple):
    """A text and what is said of it, in the words of one room: its module around the text, its short names."""

    case: tuple[str, ...]
    says: Callable[..., None]
    """Takes the case, and fails where something else is said, or at another place."""
    options: dict[str, str]

    @property
    def text(self) -> str:
        return self.case[0]

    def holds(self) -> None:
        self.says(*self.case, **self.options)


def written(table: str) -> Iterator[tuple[str, ...]]:
    """The rows of a table: `KERNEL ⇒ [WORDS] MESSAGE`, in one line or more; four spaces go on with the line above."""
    kernel: list[str] = []
    for line in table.strip("\n").replace("\n    ", " ").split("\n"):
        text, arrow, said = line.partition("⇒ ")
        kernel.append(text.rstrip() if arrow else line)
        if arrow:
            words, message = found.groups() if (found := _WORDS.match(said)) else ("", said)
            yield "\n".join(kernel).removesuffix("\n"), message, *words.split()
            kernel = []
    assert not kernel, f"a row without a message: {kernel}"


def rules(*given: str | Rule) -> list[Rule]:
    """The rules of tables; the words are a kind, a target, `warning` and `scope`."""
    return [rule for each in given for rule in ([each] if isinstance(each, Rule) else map(_rule, written(each)))]


def _rule(row: tuple[str, ...]) -> Rule:
    text, message, *words = row
    kinds = [word for word in words if word not in {*TARGETS, "warning", "scope"}]
    return Rule(
        text,
        message,
        *kinds,
        target=next((word for word in words if word in TARGETS), None),
        severity="warning" if "warning" in words else "error",
        scope="scope" in words,
    )


def rows(says: Callable[..., None], **options: str) -> Callable[..., list[Row]]:
    """Makes the rows of tables, and of single cases, that a room judges; the words are what it takes after these."""

    def made(*given: str | tuple[str, ...]) -> list[Row]:
        cases = [case for each in given for case in (written(each) if isinstance(each, str) else [each])]
        return [Row(case, says, options) for case in cases]

    return made


DOCUMENTED = {"syntax", "invalid", "unsupported", "id-range", "wrong-pipe", "wrong-target"}
"""The kinds of what the documents list."""


def _module(text: str, scope: bool) -> str:
    return text if "func.func" in text else vector_kernel.kernel(with_constants(text), scope)


def _diagnostics(text: str, rule: Rule) -> list[tuple[str, tuple[int, int] | None]]:
    """The messages and places, all of the kind and severity of the rule."""
    if rule.severity == "warning":
        found = tuple(read(text, rule.target).warnings)
    else:
        with pytest.raises(PTOError) as raised:
            read(text, rule.target)
        found = raised.value.diagnostics
    assert {(diagnostic.kind, diagnostic.severity) for diagnostic in found} == {(rule.kind, rule.severity)}
    places = [diagnostic.location for diagnostic in found]
    return [
        (diagnostic.message, (place.line, place.column) if place else None)
        for diagnostic, place in zip(found, places, strict=True)
    ]


def _accepts(text: str, rule: Rule) -> None:
    loaded = read(text, rule.target)
    assert tuple(warning.message for warning in loaded.warnings) == rule.noted
    once = printed(loaded)
    assert printed(read(once, rule.target)) == once
