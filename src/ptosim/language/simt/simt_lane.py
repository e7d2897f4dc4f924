"""Queries of a workitem, and exchanges between the lanes of its warp: votes, shuffles, reductions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ptosim.language.operation import Operand, OptionalProperty, Problem, PTOOperation, Result, made
from ptosim.language.text.assembly_format import Vocabulary
from ptosim.language.types import element_name

SIGNEDNESS = Vocabulary(("signed", "unsigned"), printed="{}")


class LaneOperation(PTOOperation):
    """An operation that only workitems execute."""

    simt = "inside"
    placement = "outside"
    targets = ("a5",)


# --- queries ----------------------------------------------------------------------------------------------------------


class ThreadQuery(LaneOperation):
    """A number that the hardware knows."""

    is_pure = True
    result = Result("i32")


class WideQuery(ThreadQuery):
    result = Result("i64")


_QUERIES = {
    **{f"get_tid_{axis}": f"Coordinate {axis} of the workitem." for axis in "xyz"},
    **{f"get_block_dim_{axis}": f"Dimension {axis} of the launch." for axis in "xyz"},
    **{f"get_grid_dim_{axis}": f"Number of cores along {axis}: always 0; use pto.get_block_num." for axis in "xyz"},
    **{f"get_block_idx_{axis}": f"Core index along {axis}: always 0; use pto.get_block_idx." for axis in "xyz"},
    "get_veccoreid": "Number of the vector core among those of the launch.",
    "get_laneid": "Lane of the workitem in its warp of 32: its number modulo 32.",
    "get_clock32": "The number of clocks that the workitem has asked for in this launch, 32 bits.",
    "get_clock64": "The number of clocks that the workitem has asked for in this launch, 64 bits.",
    "get_lanemask_eq": "The bit of the own lane, out of 32.",
    "get_lanemask_lt": "The bits of the lanes below the own one.",
    "get_lanemask_le": "The bits of the own lane and those below.",
    "get_lanemask_gt": "The bits of the lanes above the own one.",
    "get_lanemask_ge": "The bits of the own lane and those above.",
}


def _query(name: str, text: str) -> type[ThreadQuery]:
    family = WideQuery if name.endswith("64") else ThreadQuery
    type_ = "i64" if family is WideQuery else "i32"
    page = f"{text}\n\nWorkitems ask; it is pure.\n\n    %v = pto.{name} : {type_}\n"
    return made(__name__, family, f"pto.{name}", __doc__=page)


QUERIES = tuple(_query(name, text) for name, text in _QUERIES.items())


# --- votes ------------------------------------------------------------------------------------------------------------


class Vote(LaneOperation):
    """Something about a condition of all active lanes of the warp, the same in each of them."""

    form = "$condition:i1 -> $result:i1"
    condition = Operand()
    result = Result()


class VoteAll(Vote, name="pto.vote_all"):
    """Whether a condition holds in every active lane of the warp.

    The same for each active lane.

        %r = pto.vote_all %p : i1 -> i1
    """


class VoteAny(Vote, name="pto.vote_any"):
    """Whether a condition holds in some active lane of the warp.

    The same for each active lane.

        %r = pto.vote_any %p : i1 -> i1
    """


class VoteUni(Vote, name="pto.vote_uni"):
    """Whether a condition is the same in all active lanes of the warp.

    The same for each active lane.

        %r = pto.vote_uni %p : i1 -> i1
    """


class VoteBallot(Vote, name="pto.vote_ballot"):
    """The lanes of the warp in which a condition holds.

    Bit l is set where lane l is active and its condition holds.

        %r = pto.vote_ballot %p : i1 -> i32
    """

    form = "$condition:i1 -> $result:i32"
    condition = Operand()
    result = Result()


# --- shuffles ---------------------------------------------------------------------------------------------------------

SHUFFLED = ("i32", "i64", "f16", "f32", "vector<2xf16>")


class Shuffle(LaneOperation):
    """Lanes talk within groups of `width`: 16 or 32, which is meant where none is written. The control counts modulo
    32. A lane that is not active has nothing to give: the own value stays."""

    form = "$value, $control:i32"
    value = Operand()
    control = Operand()
    width = OptionalProperty()
    result = Result()

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_types(self, SHUFFLED, "value")
        if self.width is not None and self.integer("width") not in (16, 32):
            yield Problem(f"the width of a shuffle is 16 or 32, not {self.integer('width')}", at="width")


def _shuffle(name: str, text: str) -> type[Shuffle]:
    example = f"    %r = pto.{name} %v, %i : f32, i32 -> f32"
    return made(__name__, Shuffle, f"pto.{name}", __doc__=f"{text}\n\n{Shuffle.__doc__}\n\n{example}\n")


SHUFFLES = (
    _shuffle("shuffle_idx", "Value of the lane with a given number in the group."),
    _shuffle("shuffle_up", "Value of the lane so many below; the lowest lanes keep their own."),
    _shuffle("shuffle_down", "Value of the lane so many above; the highest lanes keep their own."),
    _shuffle("shuffle_bfly", "Value of the lane whose number differs in given bits."),
)


# --- reductions -------------------------------------------------------------------------------------------------------


class Redux(LaneOperation):
    """A reduction over the active lanes of the warp, the same in each of them."""

    form = "$value {@signedness}"
    words = {"signedness": SIGNEDNESS}
    value = Operand()
    signedness = OptionalProperty()
    result = Result()
    signed_integers: ClassVar[bool] = True
    """Whether integers need to say how they compare."""

    def rules(self, target: str) -> Iterator[Problem]:
        yield from same_types(self, ("i32", "f16", "f32"), "value")
        is_integer = element_name(self.value.type) == "i32"
        if self.signedness is not None and not is_integer:
            yield Problem(f"{self.name} of floats is neither signed nor unsigned", at="signedness")
        elif is_integer and self.signedness is None and self.signed_integers:
            yield Problem(f"{self.name} of integers says signed or unsigned")


class ReduxAdd(Redux, name="pto.redux_add"):
    """Sum over the active lanes of the warp.

    Integers wrap. Floats are added pairwise, neighbours first, each step rounded to the type.

        %r = pto.redux_add %v : f32 -> f32
    """

    signed_integers = False


class ReduxMax(Redux, name="pto.redux_max"):
    """Greatest value of the active lanes of the warp.

    Of floats as pto.fmax: a NaN counts only where there is nothing else.

        %r = pto.redux_max %v signed : i32 -> i32
    """


class ReduxMin(Redux, name="pto.redux_min"):
    """Least value of the active lanes of the warp.

    Of floats as pto.fmin: a NaN counts only where there is nothing else.

        %r = pto.redux_min %v unsigned : i32 -> i32
    """


OPERATIONS = (*QUERIES, *SHUFFLES)


def same_types(op: PTOOperation, accepted: tuple[str, ...], role: str) -> Iterator[Problem]:
    """An operand is of one of these types, and the result of the same."""
    type_ = op.segment(role)[0].type
    if element_name(type_) not in accepted:
        yield Problem(f"{op.name} takes {', '.join(accepted)}, not {type_}", at=role)
    elif op.results[0].type != type_:
        yield Problem(f"{op.name} of {type_} gives {type_}, not {op.results[0].type}", at="result")
