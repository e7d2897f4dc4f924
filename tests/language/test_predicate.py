"""Predicate instructions: granularities, words, scalar types, constant offsets, the element of a mask stream."""

import pytest

from language.room_example import example_loads_and_prints_stably
from language.vector_kernel import gets_a_scope, kernel, printed, read
from ptosim.language.catalogue import operations
from ptosim.language.micro import predicate, predicate_memory
from ptosim.language.operation import PTOOperation

ROOMS = (predicate.__name__, predicate_memory.__name__)
OPERATIONS = [operation for operation in operations() if operation.__module__ in ROOMS]
GRANULARITIES = ["b8", "b16", "b32"]
PTR = "!pto.ptr<ui8, ub>"


def mask(granularity: str) -> str:
    return f"!pto.mask<{granularity}>"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_loads_and_prints_stably(operation: type[PTOOperation]):
    source = {"pto.punpack": "b16", "pto.pbitcast": "b16"}.get(operation.name, operation.granularity or "b32")
    pointer = "!pto.ptr<ui32, ub>" if operation is predicate_memory.Pstu else PTR
    example_loads_and_prints_stably(operation, a=mask(source), b=mask(source), ub=pointer)


@pytest.mark.parametrize("operation", [op for op in OPERATIONS if op.granularity], ids=lambda operation: operation.name)
def test_the_documentation_names_the_granularity(operation: type[PTOOperation]):
    text = operation.__doc__ or ""
    assert operation.name in text and mask(operation.granularity or "") in text and "{" not in text


# --- generation -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_an_open_mask_has_the_granularity_of_the_mnemonic(granularity: str):
    for body in (
        f'%m = pto.pset_{granularity} "PAT_ALL" : !pto.mask<G>',
        f"%m, %n = pto.plt_{granularity} %s_i32 : i32 -> !pto.mask<G>, i32",
        f"%m = pto.pltm_{granularity} %s_i16, %s_i32 : i16, i32 -> !pto.mask<G>",
    ):
        assert mask(granularity) in printed(read(kernel(body)))


# --- load and store ---------------------------------------------------------------------------------------------------

CONSTANT = "%c = arith.constant 8 : index\n"


def load(name: str, dist: str = '"NORM"', offset: str = "%c", result: str = "M<b8>", type_: str = "index") -> str:
    names = "%m, %n" if "," in result else "%m"
    return CONSTANT + f"{names} = pto.{name} %p_ui8_ub[{offset}], {dist} : {PTR}, {type_} -> {result}"


def store(name: str, dist: str = '"NORM"', offset: str = "%c", result: str = "", type_: str = "index") -> str:
    names, arrow = ("%n = ", f" -> {result}") if result else ("", "")
    return CONSTANT + f"{names}pto.{name} %b16, %p_ui8_ub[{offset}], {dist} : M<b16>, {PTR}, {type_}{arrow}"


# --- pstu -------------------------------------------------------------------------------------------------------------

INIT = "%a0 = pto.init_align : !pto.align\n"


def pstu(granularity: str, element: str, after: str | None = None, marks: dict[str, str] | None = None) -> str:
    at = {"mask": "", "dest": "", **(marks or {})}
    pointer, next_ = f"!pto.ptr<{element}, ub>", f"!pto.ptr<{after or element}, ub>"
    return (
        f"{INIT}%a1, %n = pto.pstu %a0, {at['mask']}%{granularity}, {at['dest']}%p_{element}_ub "
        f": !pto.align, M<{granularity}>, {pointer} -> !pto.align, {next_}\n"
    )


# --- place ------------------------------------------------------------------------------------------------------------


def test_predicates_belong_inside_a_vector_scope():
    gets_a_scope('%m = pto.pset_b8 "PAT_ALL" : M<b8>')
