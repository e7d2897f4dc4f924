"""Functions of several blocks: branches between them mean what the loops and ifs mean that they become."""

import random
import re

import numpy as np
import pytest

import ptosim
from language.vector_kernel import printed, read
from ptosim.diagnostics import PTOError

HEAD = """module attributes {pto.target_arch = "a5"} {
func.func @k(%p: !pto.ptr<i32>, %n: i32) attributes {pto.kernel} {
%at = arith.constant 0 : index
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%five = arith.constant 5 : i32
"""
STORE = "pto.store_scalar %r, %p[%at] : !pto.ptr<i32>, i32\nreturn"
CHOICE = "%t = arith.cmpi sgt, %n, %five : i32\n"


def kernel(body: str) -> str:
    return f"{HEAD}{body}\n}}\n}}\n"


def results(body: str, *arguments: int) -> list[int]:
    """What is stored for each argument, by both engines; the text is printed stably."""
    once = printed(read(kernel(body)))
    assert printed(read(once)) == once and not re.search(r"\bcf\.", once)
    found: list[int] = []
    for argument in arguments:
        stored = np.zeros((2, 1), np.int32)
        for one, engine in zip(stored, ("native", "reference"), strict=True):
            ptosim.load(kernel(body)).kernel()(one, argument, engine=engine)
        assert stored[0] == stored[1]
        found.append(int(stored[0, 0]))
    return found


def test_two_ways_that_meet():
    body = f"""{CHOICE}cf.cond_br %t, ^more, ^less
^more:
%a = arith.addi %n, %one : i32
cf.br ^end(%a : i32)
^less:
%b = arith.subi %n, %one : i32
cf.br ^end(%b : i32)
^end(%r: i32):
{STORE}"""
    assert results(body, 10, 3) == [11, 2]


def test_a_region_that_runs_once_has_several_blocks():
    body = f"""%r = scf.execute_region -> i32 {{
{CHOICE}cf.cond_br %t, ^more, ^less
^more:
%a = arith.addi %n, %one : i32
scf.yield %a : i32
^less:
%b = scf.execute_region -> i32 {{
cf.br ^more(%five : i32)
^more(%c: i32):
scf.yield %c : i32
}}
%d = arith.subi %b, %n : i32
scf.yield %d : i32
}}
{STORE}"""
    assert results(body, 10, 3) == [11, 2]


def test_a_loop_in_a_region_that_runs_once():
    body = f"""%r = scf.execute_region -> i32 {{
cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %sum: i32):
%t = arith.cmpi slt, %i, %n : i32
cf.cond_br %t, ^body, ^end
^body:
%next = arith.addi %i, %one : i32
%more = arith.addi %sum, %next : i32
cf.br ^head(%next, %more : i32, i32)
^end:
scf.yield %sum : i32
}}
{STORE}"""
    assert results(body, 10, 0) == [55, 0]


def test_labels_may_be_numbers():
    body = f"{CHOICE}cf.cond_br %t, ^0(%n : i32), ^12\n^12:\ncf.br ^0(%one : i32)\n^0(%r: i32):\n{STORE}"
    assert results(body, 10, 3) == [10, 1]


def test_one_way_around_a_block():
    body = f"""{CHOICE}cf.cond_br %t, ^more, ^end(%n : i32)
^more:
%a = arith.addi %n, %one : i32
cf.br ^end(%a : i32)
^end(%r: i32):
{STORE}"""
    assert results(body, 10, 3) == [11, 3]


def test_several_returns():
    body = f"""{CHOICE}cf.cond_br %t, ^more, ^less
^more:
%r = arith.addi %n, %one : i32
{STORE}
^less:
return"""
    assert results(body, 10, 3) == [11, 0]


@pytest.mark.parametrize("turned", [False, True])
def test_a_loop(turned: bool):
    word, ways = ("sge", "^end, ^body") if turned else ("slt", "^body, ^end")
    body = f"""cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %r: i32):
%go = arith.cmpi {word}, %i, %n : i32
cf.cond_br %go, {ways}
^body:
%sum = arith.addi %r, %i : i32
%next = arith.addi %i, %one : i32
cf.br ^head(%next, %sum : i32, i32)
^end:
{STORE}"""
    assert results(body, 10, 0, 3) == [45, 0, 3]


def test_a_choice_in_a_loop_whose_head_makes_values_for_it():
    body = f"""cf.br ^head(%zero, %zero : i32, i32)
^head(%i: i32, %s: i32):
%more = arith.addi %s, %one : i32
%go = arith.cmpi slt, %i, %n : i32
cf.cond_br %go, ^body, ^end(%more : i32)
^body:
%high = arith.cmpi sgt, %i, %five : i32
cf.cond_br %high, ^count, ^keep
^count:
cf.br ^next(%more : i32)
^keep:
cf.br ^next(%s : i32)
^next(%new: i32):
%after = arith.addi %i, %one : i32
cf.br ^head(%after, %new : i32, i32)
^end(%r: i32):
{STORE}"""
    assert results(body, 10, 3) == [5, 1]


def test_a_loop_in_a_loop():
    body = f"""cf.br ^outer(%zero, %zero : i32, i32)
^outer(%i: i32, %r: i32):
%go = arith.cmpi slt, %i, %n : i32
cf.cond_br %go, ^enter, ^end
^enter:
cf.br ^inner(%zero, %r : i32, i32)
^inner(%j: i32, %s: i32):
%on = arith.cmpi slt, %j, %i : i32
cf.cond_br %on, ^body, ^leave
^body:
%sum = arith.addi %s, %one : i32
%after = arith.addi %j, %one : i32
cf.br ^inner(%after, %sum : i32, i32)
^leave:
%next = arith.addi %i, %one : i32
cf.br ^outer(%next, %s : i32, i32)
^end:
{STORE}"""
    assert results(body, 10, 3) == [45, 3]
    # what the outer loop decides with is taken inside the inner one, too
    assert results(body.replace("arith.addi %s, %one", "arith.addi %s, %i"), 10, 3) == [285, 5]


@pytest.mark.parametrize("seed", range(40))
def test_any_ways_between_blocks_are_read_or_refused(seed: int):
    chance = random.Random(seed)
    count = chance.randint(2, 6)
    ends = [
        chance.choice(("return", f"cf.br ^b{chance.randrange(1, count)}", "cf.cond_br %t, ^b{}, ^b{}")).format(
            chance.randrange(1, count), chance.randrange(1, count)
        )
        for _ in range(count)
    ]
    body = "".join(f"{f'^b{number}:' if number else CHOICE}\n{end}\n" for number, end in enumerate(ends))
    try:
        once = printed(read(kernel(body)))
    except PTOError as answer:
        kinds = {found.kind for found in answer.diagnostics}
    else:
        kinds = {"unsupported"}
        assert printed(read(once)) == once
    assert kinds == {"unsupported"}, body


@pytest.mark.parametrize("more", ["", '^other:\n"func.return"() : () -> ()\n'])
def test_nothing_branches_to_the_first_block(more: str):
    """Only the generic form has a name for it."""
    blocks = f'^first:\n"cf.br"() [^first] : () -> ()\n{more}'
    head = '"func.func"() <{function_type = () -> (), sym_name = "k"}>'
    with pytest.raises(PTOError) as raised:
        read(f"module {{\n{head} ({{\n{blocks}}}) : () -> ()\n}}\n")
    assert raised.value.diagnostics[0].message == "nothing branches to the first block of a region"
