"""Private tokens and the scoped wait: spellings and what is rejected."""

import pytest

from language.scalar_kernel import accepts, example_module, rejects
from language.vector_kernel import printed, read
from ptosim.language.catalogue import operations
from ptosim.language.micro import sync_token
from ptosim.language.operation import PTOOperation

OPERATIONS = [operation for operation in operations() if operation.__module__ == sync_token.__name__]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_examples_verify_and_print_stably(operation: type[PTOOperation]) -> None:
    loaded = read(example_module(operation))
    assert loaded.warnings == []
    once = printed(loaded)
    assert operation.name in once
    assert printed(read(once)) == once


@pytest.mark.parametrize("name", ["pto.sim.set_token", "pto.sim.wait_token"])
def test_tokens(name: str) -> None:
    accepts(f'{name}["PIPE_MTE2", "PIPE_V", 7]')
    accepts(f"{name}[#pto.pipe<PIPE_S>, <PIPE_MTE3>, 0]")
    rejects(f'{name}["PIPE_MTE2", "PIPE_V", ^8]', "the number of a token must be 0..7", "id-range")
    rejects(f'{name}["PIPE_MTE2", "PIPE_V", ^-1]', "the number of a token must be 0..7", "id-range")
    rejects(f'{name}["PIPE_MTE2", "PIPE_V", ^0, 1]', "the number of a token must be 0..7", "id-range")
    rejects(f'{name}["PIPE_V", ^"PIPE_V", 0]', f"{name} joins PIPE_V with itself", "wrong-pipe")


def test_the_scoped_wait() -> None:
    types = "!pto.ptr<f32, ub>, !pto.ptr<f32, gm>, i64, i64"
    accepts(f"pto.sim.tsync %p_f32_ub, %p_f32_gm sizes %s_i64, %s_i64 : {types}")
    rejects("pto.sim.tsync ^%s_i64 sizes %s_i64", "addresses are pointers, not i64")
    rejects("pto.sim.tsync %p_f32_ub sizes ^%s_i32", "sizes[0] must be i64, not i32")
    rejects("^pto.sim.tsync %p_f32_ub, %p_f32_gm sizes %s_i64", "2 addresses, but 1 sizes")
