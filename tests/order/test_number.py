"""Closed forms: exact where they can be, and otherwise within bounds; when two ranges first meet."""

from __future__ import annotations

from ptosim.diagnostics import Source
from ptosim.effects.burst import row_extent
from ptosim.effects.geometry import ceil_div, ceil_to, maximum, minimum
from ptosim.effects.names import Space
from ptosim.language.structure.function import every_function
from ptosim.loading import load_module
from ptosim.order.conflict import distance
from ptosim.order.model import ByteRange
from ptosim.order.number import Linear, Maybe, Number, Periodic, Plain, Symbol, bounds, remainder, symbol
from ptosim.order.values import Values

OUTER, INNER = 0, 1
I = symbol(Symbol((OUTER,), 0, None, is_iteration=True))  # noqa: E741 - an iteration
J = symbol(Symbol((OUTER, INNER), 0, 7, is_iteration=True))
N = symbol(Symbol())
"""An argument of the kernel."""


def test_sums_and_products_with_numbers_are_exact():
    found = 4 * (I + 3) - I
    assert isinstance(found, Linear) and found.constant == 12 and list(found.terms.values()) == [3]
    assert I - I == 0
    assert bounds(2 * J + 1) == (1, 15)
    assert bounds(I * J) == (0, None)
    assert bounds(N * 2) == (None, None)


def test_the_index_modulo_a_number_comes_in_turn():
    found = remainder(I + 1, 3)
    assert isinstance(found, Periodic) and found.values == (1, 2, 0) and found.loop == OUTER
    doubled = 2 * found + 10
    assert isinstance(doubled, Periodic) and doubled.values == (12, 14, 10)
    assert remainder(6 * I + 2, 3) == 2
    assert isinstance(remainder(I, 17), Linear)  # too long a period to follow


def test_turns_of_a_loop_that_begins_anywhere_are_relative_to_its_beginning():
    first, second = remainder(N + I, 2), remainder(N + I + 1, 2)
    assert isinstance(first, Periodic) and isinstance(second, Periodic)
    assert first.start == second.start != () and second.values == (1, 0)


def test_a_comparison_that_nobody_can_decide():
    assert isinstance(N < 3, Maybe)
    assert (J < 8) is True and (J >= 8) is False


def test_least_and_greatest_keep_their_bounds_through_a_choice():
    rows = minimum(N, 32)
    assert bounds(rows) == (None, 32)
    assert bounds(maximum(rows - 1, 0)) == (0, 31)
    assert bounds(row_extent((rows,), (256,), 64)[1]) == (0, 31 * 256 + 64)


def test_rounding():
    assert bounds(ceil_to(J, 32)) == (0, 32)
    assert bounds(ceil_div(J, 4)) == (0, 2)
    assert 4 * ceil_div(8 * I, 4) - 8 * I == 0


# --- ranges -----------------------------------------------------------------------------------------------------------


def place(low: Plain, high: Plain) -> ByteRange:
    return ByteRange(Space.GM, "0", None, (), ((low, high),))


def plain(number: Number) -> Plain:
    assert not isinstance(number, Periodic)
    return number


def slots(*starts: int, size: int = 64) -> ByteRange:
    return ByteRange(Space.UB, "", OUTER, (), tuple((start, start + size) for start in starts))


def rows(factor: int, size: int, ahead: int = 0) -> ByteRange:
    low = plain(factor * (I + ahead))
    return place(low, plain(low + size))


def test_rows_that_each_iteration_has_for_itself_never_meet():
    assert distance(rows(64, 64), rows(64, 64), OUTER) is None
    assert distance(rows(64, 64), rows(64, 64), None) == 0
    assert distance(rows(64, 65), rows(64, 65), OUTER) == 1


def test_a_row_that_was_written_some_iterations_ago():
    """Iteration i reads what iteration i - 3 wrote, never the other way round."""
    assert distance(rows(64, 64, ahead=3), rows(64, 64), OUTER) == 3
    assert distance(rows(64, 64), rows(64, 64, ahead=3), OUTER) is None


def test_a_meeting_too_far_away_counts_as_one_of_the_next_iteration():
    assert distance(rows(64, 64, ahead=100), rows(64, 64), OUTER) == 1


def test_slots_meet_when_it_is_their_turn_again():
    assert distance(slots(0, 64), slots(0, 64), OUTER) == 2
    assert distance(slots(0, 64), slots(64, 0), OUTER) == 1
    assert distance(slots(0, 64), slots(64, 0), None) is None
    assert distance(slots(0, 64), slots(0, 64), None) == 0


def test_inside_another_loop_any_slots_may_meet():
    assert distance(slots(0, 64), slots(0, 64), INNER) == 1  # the outer loop stands still: the same slot
    assert distance(slots(0, 64), slots(64, 0), INNER) is None


def test_inner_iterations_are_any_of_theirs():
    low = plain(512 * I + 64 * J)
    assert distance(place(low, plain(low + 64)), place(low, plain(low + 64)), OUTER) is None
    wide = plain(256 * I + 64 * J)
    assert distance(place(wide, plain(wide + 64)), place(wide, plain(wide + 64)), OUTER) == 1


def test_different_arguments_do_not_overlap():
    other = ByteRange(Space.GM, "1", None, (), (None,))
    assert distance(place(0, 64), other, None) is None
    assert distance(place(0, 64), ByteRange(Space.GM, "?", None, (), (None,)), None) == 0


def test_what_is_made_an_index_without_its_sign_is_another_number_where_it_is_negative():
    source = """module attributes {pto.target_arch = "a5"} {
      func.func @k(%a: !pto.ptr<f32, gm>) attributes {pto.entry} {
        %minus = arith.constant -1 : i32
        %one = arith.constant 1 : i32
        %large = arith.index_castui %minus : i32 to index
        %same = arith.index_castui %one : i32 to index
        return
      }
    }"""
    (function,) = every_function(load_module(Source("<text>", source)).executable.parsed.module)
    values = Values(function)
    large, same = (values.number(op.results[0]) for op in function.walk() if op.name == "arith.index_castui")
    assert bounds(large) == (None, None) and same == 1
