"""Lanes, views, trees, permutes and predicate images of 256-byte registers."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from native.compiled import Bench, Outcome
from ptosim.native.host.toolchain import optimized_text
from ptosim.native.ir.flow import FunctionBuilder
from ptosim.native.ir.values import F32, I1, I8, I16, I32, I64, I256, Type, Value
from ptosim.native.vector.registers import (
    Mask,
    any_lane,
    constant_mask,
    extract,
    full_mask,
    insert,
    lane_numbers,
    masked_store,
    permute,
    prefix_mask,
    register_type,
    shuffle,
    splat,
    tree,
    view,
    zeroed,
)

REGISTER = bytes(range(256))
RNG = np.random.default_rng(5)


def run(build: Callable[..., Sequence[Value]], *numbers: int, memory: bytes = REGISTER) -> Outcome:
    return Bench(build, len(numbers)).run(*numbers, memory=memory)


def image(mask: Mask) -> Value:
    """All 256 bits of a predicate as one integer."""
    return mask.lanes(1).bitcast(I256)


# --- lanes ------------------------------------------------------------------------------------------------------------


def test_a_view_keeps_bytes_and_finds_its_way_back():
    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        floats = memory.load(register_type(F32))
        halves = view(function, floats, I16)
        assert view(function, halves, F32) is floats
        assert view(function, floats, I16) is halves
        assert view(function, floats, F32) is floats
        return [view(function, halves, I8), halves]

    results = run(build).results
    assert results[0][:256] == REGISTER
    assert results[1][:256] == REGISTER


def test_splat_and_single_lanes():
    def build(function: FunctionBuilder, memory: Value, number: Value) -> Sequence[Value]:
        vector = splat(function, number.trunc(I32), 64)
        assert splat(function, number.like(3), 4).text == "splat (i64 3)"
        changed = insert(vector, 5, memory.load(I32))
        return [insert(changed, number, memory.load(I32)), extract(memory.load(register_type(I8)), number).zext(I64)]

    outcome = run(build, 60)
    expected = [60] * 64
    expected[5] = expected[60] = 0x03020100
    assert np.frombuffer(outcome.results[0][:256], "<i4").tolist() == expected
    assert outcome.number(1) == 60


def test_shuffle_by_a_table():
    reverse = [63 - lane for lane in range(64)]

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        vector = memory.load(register_type(I32))
        assert shuffle(function, range(64), vector) is vector
        both = shuffle(function, [0, 64, 1, 65], vector, vector + 1)
        return [shuffle(function, reverse, vector), both]

    results = run(build).results
    words = np.frombuffer(REGISTER, "<i4")
    assert results[0][:256] == words[::-1].tobytes()
    assert results[1][:16] == np.array([words[0], words[0] + 1, words[1], words[1] + 1], "<i4").tobytes()


@pytest.mark.parametrize("lanes", [64, 256])
@pytest.mark.parametrize("group, distance", [(1, 2), (1, 8), (2, 4), (2, 8), (2, 16), (4, 8), (4, 16), (8, 16)])
def test_groups_of_bits_among_zeros(group: int, distance: int, lanes: int):
    """LLVM ends the process over some of them as shuffles."""
    source = [lane // distance * group + lane % distance for lane in range(256)]
    table = [s if at % distance < group and s < lanes else lanes for at, s in enumerate(source)]

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        bits = memory.load(Type(f"i{lanes}")).bitcast(I1.vector(lanes))
        return [shuffle(function, table, bits, bits.like(0)).bitcast(Type("i256"))]

    image = RNG.bytes(256)
    bits = np.append(np.unpackbits(np.frombuffer(image[: lanes // 8], "u1"), bitorder="little"), 0)
    assert run(build, memory=image).results[0][:32] == np.packbits(bits[table], bitorder="little").tobytes()


@pytest.mark.parametrize("groups", [1, 8])
def test_a_tree_adds_lane_i_and_lane_i_plus_half(groups: int):
    values = (RNG.standard_normal(64) * 10.0 ** RNG.integers(-6, 7, 64)).astype("f4")
    expected = values.reshape(groups, -1)
    while expected.shape[1] > 1:
        half = expected.shape[1] // 2
        expected = expected[:, :half] + expected[:, half:]

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        return [tree(function, memory.load(register_type(F32)), lambda a, b: a + b, groups)]

    assert run(build, memory=values.tobytes()).results[0][: 4 * groups] == expected.tobytes()


@pytest.mark.parametrize("element, name", [(I8, "u1"), (I16, "<u2"), (I32, "<u4"), (I64, "<u8")])
def test_a_permute_by_lane_numbers(element: Type, name: str):
    lanes = register_type(element).lanes
    values = np.frombuffer(RNG.bytes(256), name)
    numbers = RNG.integers(0, lanes, lanes).astype(name)

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        kind = register_type(element)
        return [permute(function, memory.load(kind), memory.at(256).load(kind))]

    result = run(build, memory=values.tobytes() + numbers.tobytes()).results[0][:256]
    assert result == values[numbers.astype(int)].tobytes()


def test_lane_numbers_and_any_lane():
    def build(function: FunctionBuilder, _memory: Value, number: Value) -> Sequence[Value]:
        numbers = lane_numbers(function, I16, 128)
        hit = numbers == splat(function, number.trunc(I16), 128)
        return [numbers, any_lane(hit).zext(I64)]

    assert np.frombuffer(run(build, 5).results[0][:256], "<u2").tolist() == list(range(128))
    assert [run(build, number).number(1) for number in (0, 127, 128)] == [1, 1, 0]


# --- masks ------------------------------------------------------------------------------------------------------------


def image_of(width: int, active: Callable[[int], bool]) -> np.ndarray:
    """The bits of an image whose lanes of that many bytes are active by a rule: only the lowest bit of each is set."""
    bits = np.zeros(256, bool)
    bits[::width] = [active(lane) for lane in range(256 // width)]
    return bits


def stored(outcome: Outcome, result: int = 0) -> np.ndarray:
    return np.unpackbits(np.frombuffer(outcome.results[result][:32], "u1"), bitorder="little").astype(bool)


WIDTHS = [1, 2, 4, 8]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 13, 31, 64, 128, 255, 256, 70000, -1])
def test_the_image_of_a_prefix(width: int, count: int):
    outcome = run(lambda f, _m, n: [image(prefix_mask(f, width, n.trunc(I32)))], count)
    assert (stored(outcome) == image_of(width, lambda lane: lane < count % (1 << 32))).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_full_and_constant_masks(width: int):
    def build(function: FunctionBuilder, _memory: Value) -> Sequence[Value]:
        every_third = constant_mask(function, width, [int(lane % 3 == 0) for lane in range(256 // width)])
        assert full_mask(function, width).is_full and not every_third.is_full
        assert constant_mask(function, width, [0] * (256 // width)).is_empty
        return [image(full_mask(function, width)), image(every_third)]

    outcome = run(build)
    assert (stored(outcome, 0) == image_of(width, lambda _lane: True)).all()
    assert (stored(outcome, 1) == image_of(width, lambda lane: lane % 3 == 0)).all()


@pytest.mark.parametrize("made", WIDTHS)
@pytest.mark.parametrize("seen", WIDTHS)
def test_a_view_of_another_width_takes_the_lowest_bit_of_each_lane(made: int, seen: int):
    lanes = RNG.integers(0, 2, 256 // made).astype("u1")
    image = image_of(made, lambda lane: bool(lanes[lane]))

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        bits = memory.load(I8.vector(256 // made)).trunc(I1)
        return [Mask(function, bits, made).lanes(seen).zext(I8)]

    result = run(build, memory=lanes.tobytes()).results[0][: 256 // seen]
    assert np.frombuffer(result, bool).tolist() == image[::seen].tolist()


@pytest.mark.parametrize("left", WIDTHS)
@pytest.mark.parametrize("right", WIDTHS)
def test_logic_on_masks_is_logic_on_images(left: int, right: int):
    lanes = [RNG.integers(0, 2, 256 // width).astype("u1") for width in (left, right)]
    a, b = (
        image_of(width, lambda lane, own=own: bool(own[lane])) for width, own in zip((left, right), lanes, strict=True)
    )

    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        x = Mask(function, memory.load(I8.vector(256 // left)).trunc(I1), left)
        y = Mask(function, memory.at(256).load(I8.vector(256 // right)).trunc(I1), right)
        return [image(mask) for mask in (x & y, x | y, x ^ y, x.without(y))]

    outcome = run(build, memory=lanes[0].tobytes().ljust(256) + lanes[1].tobytes())
    for number, expected in enumerate([a & b, a | b, a ^ b, a & ~b]):
        assert (stored(outcome, number) == expected).all()


def test_a_full_mask_leaves_no_select():
    def build(function: FunctionBuilder, memory: Value) -> Sequence[Value]:
        vector = memory.load(register_type(F32))
        assert zeroed(vector, full_mask(function, 4)) is vector
        assert zeroed(vector, full_mask(function, 1)) is vector
        assert zeroed(vector, full_mask(function, 8)) is not vector  # gates every second lane
        masked_store(function, memory, vector, full_mask(function, 4).lanes(4))
        assert "masked.store" not in function.definition()
        return []

    run(build)


def test_masked_accesses_touch_active_lanes_only():
    before = RNG.bytes(512)

    def build(function: FunctionBuilder, memory: Value, count: Value) -> Sequence[Value]:
        mask = prefix_mask(function, 4, count.trunc(I32)).lanes(4)
        masked_store(function, memory.at(256), memory.load(register_type(I32)), mask)
        return []

    outcome = run(build, 5, memory=before)
    assert outcome.memory == before[:256] + before[:20] + before[276:]


def test_a_producer_and_a_consumer_of_one_width_meet_without_a_shuffle():
    bench = Bench(
        lambda f, m, n: [zeroed(m.load(register_type(F32)), prefix_mask(f, 4, n.trunc(I32)) & full_mask(f, 4))], 1
    )
    text = optimized_text(bench.module.text())
    shuffles = [line for line in text.splitlines() if "shufflevector" in line]
    assert all("zeroinitializer" in line for line in shuffles), shuffles  # only the splat of the count
