"""The kernels of `ptosim explain`, and their repairs: a check says the same with either engine."""

from typing import Any

import pytest

import ptosim
from ptosim.argument_words import value_of
from ptosim.sanitize.explain import explanation, kinds

KERNELS = [
    pytest.param(text, words, id=f"{kind} {what}")
    for kind in kinds()
    for each in [explanation(kind)]
    if each.ranks is None
    for what, text, words in (
        ("wrong", each.kernel, each.arguments),
        ("right", each.repaired, each.repaired_arguments),
    )
]


@pytest.mark.parametrize(("text", "words"), KERNELS)
def test_both_engines_say_the_same(text: str, words: tuple[str, ...]) -> None:
    assert _said(text, words, "native") == _said(text, words, "reference")


def _said(text: str, words: tuple[str, ...], engine: str) -> list[Any]:
    try:
        kernel = ptosim.load(text).kernel()
        values = [value_of(word, parameter) for word, parameter in zip(words, kernel.signature, strict=False)]
        found = ptosim.check(kernel, *values, engine=engine).findings
    except ptosim.PTOError as problem:
        found = problem.diagnostics
    return [each.to_json() for each in found]
