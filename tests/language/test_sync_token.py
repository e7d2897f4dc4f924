"""Private tokens and the scoped wait: spellings and what is rejected."""

import pytest

from language.scalar_kernel import accepts, rejects


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
