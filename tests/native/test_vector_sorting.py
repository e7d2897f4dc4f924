"""Sorting and merging: compiled code against the reference engine, and against a sort in Python."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptosim.diagnostics import PTOError
from ptosim.effects.element import element
from sort_programs import counts, merge, sort
from tables import table
from vector_cases import edges

KINDS = st.sampled_from(["f16", "f32"])


def _scores(kind: str) -> st.SearchStrategy[int]:
    """Few different values, so that there are ties; and any pattern."""
    width = element(kind).bits
    return st.one_of(st.sampled_from(edges(element(kind)).tolist()), st.integers(0, 2**width - 1))


def _key(kind: str, pattern: int) -> float:
    """A number that grows with the score; NaN beyond the infinities, by its sign."""
    value = struct.unpack("<e" if kind == "f16" else "<f", pattern.to_bytes(2 if kind == "f16" else 4, "little"))[0]
    sign = -1 if pattern >> (element(kind).bits - 1) else 1
    payload = pattern & ((1 << (element(kind).bits - 1)) - 1)
    return (
        (sign * 1e300 * (1 + payload / 2**31))
        if value != value
        else (sign * 1e299 if abs(value) == float("inf") else value)
    )


def _image(kind: str, patterns: list[int]) -> np.ndarray:
    return np.array(patterns, f"u{element(kind).bytes}").view(np.uint8)


@given(data=st.data(), kind=KINDS, repeat=st.integers(0, 3))
def test_sorting(data, kind, repeat):
    scores = data.draw(st.lists(_scores(kind), min_size=96, max_size=96))
    image = np.zeros(4096, np.uint8)
    image[: 96 * element(kind).bytes] = _image(kind, scores)
    image[1024 : 1024 + 384] = np.arange(96, dtype=np.uint32).view(np.uint8)
    got = sort(kind, image, 2048, 0, 1024, repeat, engine="native")
    assert (got == sort(kind, image, 2048, 0, 1024, repeat, engine="reference")).all()
    for group in range(repeat):
        order = sorted(range(32 * group, 32 * group + 32), key=lambda n: -_key(kind, scores[n]))
        records = got[2048 + 256 * group :][:256].view(np.uint32)
        assert records[1::2].tolist() == order
        assert records[0::2].tolist() == [scores[n] for n in order]


@given(dest=st.integers(0, 600), source=st.integers(0, 600), indices=st.integers(0, 600), repeat=st.integers(0, 4))
def test_sorting_over_itself_goes_group_by_group(dest, source, indices, repeat):
    image = np.random.default_rng(dest).integers(0, 256, 4096, np.uint8)
    one = sort("f16", image, dest, source, indices, repeat, engine="native")
    assert (one == sort("f16", image, dest, source, indices, repeat, engine="reference")).all()


LISTS = st.tuples(*[st.integers(0, 12)] * 4)


@given(kind=KINDS, lengths=LISTS, valid=st.integers(0, 15), suspend=st.booleans(), seed=st.integers(0, 99))
def test_merging(kind, lengths, valid, suspend, seed):
    chance = np.random.default_rng(seed)
    image = np.zeros(8192, np.uint8)
    lists = [
        sorted(chance.choice(edges(element(kind)), length).tolist(), key=lambda p: -_key(kind, p)) for length in lengths
    ]
    for number, scores in enumerate(lists):
        records = np.zeros((len(scores), 2), np.uint32)
        records[:, 0], records[:, 1] = scores, 100 * number + np.arange(len(scores))
        image[1024 * number :][: records.nbytes] = records.reshape(-1).view(np.uint8)
    config = 1 | valid << 8 | suspend << 12
    arguments = (kind, image, 4096, (0, 1024, 2048, 3072), counts(*lengths), config)
    got, taken = merge(*arguments, engine="native")
    expected = merge(*arguments, engine="reference")
    assert (got == expected[0]).all()
    assert taken == expected[1]
    if not suspend:
        offered = [
            (score, 100 * n + k) for n, scores in enumerate(lists) if valid >> n & 1 for k, score in enumerate(scores)
        ]
        merged = sorted(offered, key=lambda record: -_key(kind, record[0]))
        assert got[4096:][: 8 * len(merged)].view(np.uint32).reshape(-1, 2).tolist() == [
            list(record) for record in merged
        ]


@given(dest=st.integers(0, 40), starts=st.tuples(*[st.integers(0, 40)] * 4), lengths=LISTS, suspend=st.booleans())
def test_merging_over_itself_goes_record_by_record(dest, starts, lengths, suspend):
    image = np.random.default_rng(dest).integers(0, 256, 1024, np.uint8)
    sources = tuple(8 * start for start in starts)
    arguments = ("f32", image, 8 * dest, sources, counts(*lengths), 0x0F01 | suspend << 12)
    got, taken = merge(*arguments, engine="native")
    expected = merge(*arguments, engine="reference")
    assert (got == expected[0]).all()
    assert taken == expected[1]


@pytest.mark.parametrize("times", [2, 3])
def test_repeated_merging(times):
    chance = np.random.default_rng(times)
    image = np.zeros(8192, np.uint8)
    image[: 4 * 3 * 8 * times] = chance.integers(0, 256, 4 * 3 * 8 * times)
    arguments = ("f32", image, 4096, (0, 24, 48, 72), counts(3, 3, 3, 3), 0x0F00 | times)
    got, taken = merge(*arguments, engine="native")
    expected = merge(*arguments, engine="reference")
    assert (got == expected[0]).all()
    assert taken == expected[1] == [3, 3, 3, 3]


# --- errors -----------------------------------------------------------------------------------------------------------

END = 262144


def _error(call, *arguments, engine) -> tuple[str, str, object]:
    with pytest.raises(PTOError) as raised:
        call(*arguments, engine=engine)
    (found,) = raised.value.diagnostics
    return found.kind, found.message, found.location


@table(
    "arguments",
    ("f32", np.zeros(8, np.uint8), 0, 0, 0, 256),
    ("f32", np.zeros(8, np.uint8), 0, 0, 0, -1),
    ("f32", np.zeros(8, np.uint8), END - 255, 0, 0, 1),
    ("f16", np.zeros(8, np.uint8), 0, END - 127, 0, 2),
    ("f32", np.zeros(8, np.uint8), 0, 0, -4, 1),
    ("f32", np.zeros(8, np.uint8), 0, END - 3 * 128, 1024, 5),
)
def test_both_engines_refuse_the_same_sorts(arguments):
    assert _error(sort, *arguments, engine="native") == _error(sort, *arguments, engine="reference")


@table(
    "arguments",
    ("f32", np.zeros(8, np.uint8), 4, (0, 0, 0, 0), counts(1), 0x0101),
    ("f32", np.zeros(8, np.uint8), 0, (4, 0, 0, 0), counts(1), 0x0101),
    ("f32", np.zeros(8, np.uint8), END - 8, (0, 0, 0, 0), counts(2), 0x0101),
    ("f32", np.zeros(8, np.uint8), 0, (0, END - 16, 0, 0), counts(0, 3), 0x0F01),
    ("f32", np.zeros(8, np.uint8), 0, (0, -8, 0, 0), counts(0, 3), 0x0F01),
    ("f32", np.zeros(8, np.uint8), 4096, (0, 8, 16, 32), counts(1, 1, 1, 1), 0x0F02),
    ("f32", np.zeros(8, np.uint8), 4096, (0, 8, 16, 24), counts(1, 1, 1, 1), 0x1F02),
    ("f32", np.zeros(8, np.uint8), 4096, (END - 64, END - 56, END - 48, END - 40), counts(1, 1, 1, 1), 0x0F03),
)
def test_both_engines_refuse_the_same_merges(arguments):
    assert _error(merge, *arguments, engine="native") == _error(merge, *arguments, engine="reference")
