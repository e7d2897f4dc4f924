"""Damaged kernels: whatever is done to a text, the answer is a module or diagnostics, and it comes soon."""

import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ptosim.diagnostics import PTOError, Source
from ptosim.language.load import text
from ptosim.loading import load_module

ROOT = Path(__file__).parents[2]
CORPUS = [
    path.read_text() for folder in ("tests", "examples", "src") for path in sorted((ROOT / folder).rglob("*.pto"))
]
TILES = [source for source in CORPUS if "pto.tile_buf" in source]
CHUNKS = 10
TOKEN = re.compile(r"[%!#@^]?[\w.$]+|\"[^\"\n]*\"|->|\S")
ALPHABET = "{}()[]<>\"'%!#@^:,=-+./\\ \n\tabcxyz0189_\x00\x7f\u202e\u00e9\U0001f600"
SECONDS = 5.0

Damage = Callable[[random.Random, str], str]


def flip(chance: random.Random, source: str) -> str:
    """Change a few characters."""
    characters = list(source)
    for _ in range(chance.randint(1, 4)):
        characters[chance.randrange(len(characters))] = chance.choice(ALPHABET)
    return "".join(characters)


def delete(chance: random.Random, source: str) -> str:
    """Leave out a few tokens."""
    for _ in range(chance.randint(1, 3)):
        token = chance.choice(list(TOKEN.finditer(source)))
        source = source[: token.start()] + source[token.end() :]
    return source


def swap(chance: random.Random, source: str) -> str:
    """Exchange two tokens, near or far."""
    tokens = list(TOKEN.finditer(source))
    first = chance.randrange(len(tokens) - 1)
    second = chance.randrange(first + 1, min(len(tokens), first + chance.choice((2, 20, 2000))))
    one, other = tokens[first], tokens[second]
    return source[: one.start()] + other[0] + source[one.end() : other.start()] + one[0] + source[other.end() :]


def repeat(chance: random.Random, source: str) -> str:
    """Write one token in the place of another."""
    tokens = list(TOKEN.finditer(source))
    one, other = chance.choice(tokens), chance.choice(tokens)
    return source[: one.start()] + other[0] + source[one.end() :]


WORDS = (
    (
        "f32",
        "f16",
        "bf16",
        "f64",
        "i1",
        "i4",
        "i8",
        "i16",
        "i32",
        "i64",
        "si32",
        "ui8",
        "index",
        "!pto.hif8",
        "!pto.align",
    ),
    ("gm", "ub", "l1", "l0a", "l0c", "fb"),
    ("b8", "b16", "b32", "G"),
    ("64", "32", "128", "256", "0", "-1", "7"),
    ("PIPE_V", "PIPE_MTE2", "PIPE_S", "PIPE_M", "PIPE_ALL", "EVENT_ID7"),
    ("vec", "mat", "left", "right", "acc", "bias", "scaling"),
    ("row_major", "col_major", "none_box"),
    ("valid", "pad", "fractal", "compact", "blayout", "slayout"),
    ("ins", "outs", "offsets", "sizes", "shape", "strides"),
    ("tadd", "tmul", "texp", "tcvt", "tmov", "ttrans", "tload", "tstore", "textract", "tinsert", "tmatmul"),
    (
        "trowsum",
        "trowmax",
        "tcolsum",
        "trowexpandmul",
        "tcolexpandmul",
        "tconcat",
        "tsel",
        "tcmp",
        "tgather",
        "tsort32",
    ),
    ("alloc_tile", "subview", "treshape", "set_validshape", "partition_view", "make_tensor_view"),
)


def retype(chance: random.Random, source: str) -> str:
    """Exchange words for others of their kind, and values for others: most of it still parses, and is wrong."""
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(WORDS)
        places = list(re.finditer(rf"\b({'|'.join(kind)})\b", source))
        if chance.random() < 0.5 or not places:
            places = list(re.finditer(r"%[\w.$]+", source))
            kind = tuple({place[0] for place in places})
        if not places:
            return source
        place = chance.choice(places)
        source = source[: place.start()] + chance.choice(kind) + source[place.end() :]
    return source


def unscope(chance: random.Random, source: str) -> str:
    """Leave vector code without one of its scopes, or without all, and exchange a word."""
    return retype(chance, source.replace("pto.vecscope {", "scf.execute_region {", chance.choice((1, -1))))


def truncate(chance: random.Random, source: str) -> str:
    """End early, or begin late."""
    cut = chance.randrange(1, len(source))
    return source[:cut] if chance.random() < 0.8 else source[cut:]


def nest(chance: random.Random, source: str) -> str:
    """Open many brackets or regions at some place."""
    token = chance.choice(list(TOKEN.finditer(source)))
    opening = chance.choice(("{", "(", "[", "<", "scf.if %c {", "module {", "#a<", "!pto.ptr<", "[["))
    return source[: token.start()] + opening * chance.choice((5, 150, 250)) + source[token.start() :]


def garbage(chance: random.Random, source: str) -> str:
    """Insert nonsense, or be nothing else."""
    noise = "".join(chance.choice(ALPHABET) for _ in range(chance.randint(1, 200)))
    place = chance.randrange(len(source))
    return source[:place] + noise + source[place:] if chance.random() < 0.7 else noise


DAMAGES: tuple[Damage, ...] = (flip, delete, swap, repeat, retype, retype, unscope, truncate, nest, garbage)


def survives(source: str) -> None:
    began = time.perf_counter()
    try:
        loaded = load_module(Source("kernel.pto", source))
        text(loaded.written)
        text(loaded.executable)
    except PTOError as answer:
        str(answer)
    assert time.perf_counter() - began < SECONDS


def run(chunk: int, count: int, corpus: list[str]) -> None:
    chance = random.Random(chunk)
    for _ in range(count):
        source = chance.choice(DAMAGES)(chance, chance.choice(corpus))
        try:
            survives(source)
        except Exception as problem:
            pytest.fail(f"{problem!r} for\n{source}")


def test_there_is_something_to_damage():
    assert len(CORPUS) >= 19 and len(TILES) >= 13


texts = pytest.mark.parametrize("corpus", [CORPUS, TILES], ids=["all", "tiles"])


@texts
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_sample_of_damaged_kernels(chunk: int, corpus: list[str]):
    run(chunk, 20, corpus)


@pytest.mark.full
@texts
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_kernels(chunk: int, corpus: list[str]):
    run(CHUNKS + chunk, 2000, corpus)
