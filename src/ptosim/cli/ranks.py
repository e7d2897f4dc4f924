"""`run` and `check` on several ranks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ptosim.api import Kernel
from ptosim.argument_words import PLACE, Array, differing, expected, save, shown
from ptosim.cli.command import is_json, note_launch
from ptosim.cli.made_up import words_of
from ptosim.diagnostics import Diagnostic, error
from ptosim.ranks.rank_arguments import described_arguments
from ptosim.ranks.rank_words import arrays_of, values_of
from ptosim.ranks.world import World, world_of

RANKS = click.option("--ranks", type=click.IntRange(1), help="How many ranks; then arguments may be windows (sym:).")
_CHOSEN = re.compile(r"(\d{1,4})(?:@(\*|\d{1,3}))?=(.+)")


class Ranked:
    """A kernel launched on so many ranks by words."""

    def __init__(self, kernel: Kernel, words: Sequence[str], ranks: int, grid: int) -> None:
        self.kernel = kernel
        self.ranks = ranks
        self.values = values_of(words_of(kernel, words, ranks), kernel.signature, ranks)
        self.world: World = world_of(kernel, self.values, ranks, grid)
        if is_json():
            note_launch(self.world.subject())

    def chosen(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Argument, rank and file of `N@R=FILE`; `*` is every rank."""
        match = _CHOSEN.fullmatch(text)
        if match is None:
            raise click.UsageError(f"'{text}' is not of the form N@RANK=FILE")
        number, which, path = int(match[1]), match[2], match[3]
        arrays = [index for index, value in enumerate(self.values) if arrays_of(value, self.ranks)]
        if number not in arrays:
            known = ", ".join(map(str, arrays)) or "none"
            raise click.UsageError(f"argument {number} is no array; arrays of this kernel are {known}")
        if which is None and self.ranks > 1 and PLACE not in path:
            raise click.UsageError(f"'{text}': say whose array, as in {number}@0={path} or {number}@*=out.{PLACE}.npy")
        everybody = which in ("*", None)
        if everybody and self.ranks > 1 and PLACE not in path:
            raise click.UsageError(f"'{text}': a file for every rank has {PLACE} in its name")
        for rank in range(self.ranks) if everybody else [int(which)]:
            if rank >= self.ranks:
                raise error("argument", f"'{text}': there is no rank {rank}: ranks are 0 to {self.ranks - 1}")
            yield number, rank, path.replace(PLACE, str(rank))

    def array(self, number: int, rank: int) -> Array:
        return arrays_of(self.values[number], self.ranks)[rank]

    def save(self, texts: Sequence[str]) -> None:
        for number, rank, path in (each for text in texts for each in self.chosen(text)):
            save(path, self.array(number, rank))

    def differences(self, texts: Sequence[str], atol: float, rtol: float) -> list[Diagnostic]:
        """Differences from the files of --expect."""
        return [wrong for text in texts for each in self.chosen(text) for wrong in self._differs(*each, atol, rtol)]

    def _differs(self, number: int, rank: int, path: str, atol: float, rtol: float) -> Iterator[Diagnostic]:
        parameter, found = self.kernel.signature[number], self.array(number, rank).reshape(-1)
        wanted = expected(path, parameter, number, found.size)
        wrong = differing(found, wanted, atol, rtol)
        if wrong.any():
            first = int(wrong.argmax())
            message = (
                f"argument {number} (%{parameter.name}) of rank {rank} differs from {path} in {int(wrong.sum())} of "
                f"{wrong.size} elements; the first is {first}: {found[first]!s} instead of {wanted[first]!s}"
            )
            yield Diagnostic("argument", "error", message)

    def described(self) -> Sequence[Any]:
        """The arguments that have arrays, as they are now."""
        told = described_arguments(self.kernel.signature, self.values, self.ranks)
        return [each for each, value in zip(told, self.values, strict=True) if arrays_of(value, self.ranks)]

    def summary(self) -> None:
        """One line per array and rank."""
        for parameter, value in zip(self.kernel.signature, self.values, strict=True):
            for rank, array in enumerate(arrays_of(value, self.ranks)):
                click.echo(f"{parameter.name:>12}  rank {rank}  {shown(array)}")


def refuse(**given: Any) -> None:
    """Options that launches on several ranks do not have."""
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name} is not for launches on several ranks")
