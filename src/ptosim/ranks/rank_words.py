"""Argument words of launches on several ranks: windows, values by rank, contexts and peers.

sym:zeros:2x1     a window; what follows makes the array of each rank
each:rand:8x64:7  an array for each rank, seed 7 + rank, so that no two are equal; x.{rank}.npy likewise
ctx:N  peer:N:+1  the context of the window that is argument N; that window on the next rank, or peer:N:2 on rank 2
rank ranks block blocks    numbers
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ptosim.argument_words import PLACE, Array, value_of, word_of_rank, wrong
from ptosim.arguments import Parameter
from ptosim.ranks.rank_arguments import BLOCK, BLOCKS, RANK, RANKS, At, ContextOf, Each, Symmetric

if TYPE_CHECKING:
    from ptosim.module import Kernel
    from ptosim.ranks.world import World

QUERIES = {query.name: query for query in (RANK, RANKS, BLOCK, BLOCKS)}
_PEER = re.compile(r"peer:(\d{1,3}):([+-]?)(\d{1,3})")
_CONTEXT = re.compile(r"ctx:(\d{1,3})")


def is_for_ranks(word: str) -> bool:
    """Whether a word says something about ranks."""
    return word in QUERIES or word.startswith(("sym:", "each:", "ctx:", "peer:")) or PLACE in word


def values_of(words: Sequence[str], signature: Sequence[Parameter], ranks: int) -> list[Any]:
    """The arguments that words stand for."""
    values = [
        _value(word, parameter, position * ranks, ranks)
        for position, (word, parameter) in enumerate(zip(words, signature, strict=True))
    ]
    for position, (word, parameter) in enumerate(zip(words, signature, strict=True)):
        if match := _PEER.fullmatch(word):
            values[position] = _peer(word, parameter, values, int(match[1]), match[2], int(match[3]))
    return values


def _value(word: str, parameter: Parameter, seed: int, ranks: int) -> Any:
    """`seed`: of random numbers on the first rank, where the word names none."""
    if word in QUERIES and not parameter.is_pointer:
        return QUERIES[word]
    if word.startswith("ctx:"):
        match = _CONTEXT.fullmatch(word)
        if match is None:
            raise wrong(word, parameter, "a context is written as ctx:N, with the number of an argument")
        return ContextOf(int(match[1]))
    if word.startswith("peer:"):
        if _PEER.fullmatch(word) is None:
            raise wrong(word, parameter, "a peer is written as peer:N:+1 or peer:N:2")
        return None
    if word.startswith("sym:"):
        if not parameter.is_pointer:
            raise wrong(word, parameter, "expected a number, not a window")
        arrays = [value_of(word_of_rank(word.removeprefix("sym:"), rank, seed), parameter) for rank in range(ranks)]
        if len({array.shape for array in arrays}) > 1:
            raise wrong(word, parameter, "a window has the same shape on every rank")
        window = Symmetric(arrays[0].shape, arrays[0].dtype)
        window.arrays = arrays
        return window
    if word.startswith("each:") or PLACE in word:
        rest = word.removeprefix("each:")
        return Each(tuple(value_of(word_of_rank(rest, rank, seed), parameter) for rank in range(ranks)))
    return value_of(word, parameter, seed)


def _peer(word: str, parameter: Parameter, values: Sequence[Any], position: int, sign: str, number: int) -> At:
    window = values[position] if position < len(values) else None
    if not isinstance(window, Symmetric):
        raise wrong(word, parameter, f"argument {position} is no window (sym:...)")
    if not sign:
        return window.at(number)
    step = number if sign == "+" else -number
    return At(window, lambda rank, ranks: (rank + step) % ranks)


def ranked(kernel: Kernel, words: Sequence[str], ranks: int, grid: int = 1) -> World:
    """A world in which a kernel has been launched with words."""
    from ptosim.ranks.world import world_of

    return world_of(kernel, values_of(words, kernel.signature, ranks), ranks, grid)


def arrays_of(value: Any, ranks: int) -> list[Array]:
    """The array of each rank behind an argument; none for what is no array."""
    if isinstance(value, Symmetric):
        return list(value.arrays)
    given = value.values if isinstance(value, Each) else [value] * ranks
    return list(given) if all(hasattr(one, "dtype") for one in given) else []
