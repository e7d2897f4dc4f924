"""Buffers that a function reserves for a FIFO and another one imports."""

import pytest

from language import source
from language.view_kernel import accepts, prints, rejects
from refusals.tile_reserve import pair, reserve


def test_how_they_are_written():
    prints(reserve(), reserve())
    planned = (
        'pto.reserve_buffer {name = "s", location = #pto.address_space<mat>, size = 512 : i64, auto = true} -> i32'
    )
    prints(f"%b = {planned}", f"%b = {planned}")


@pytest.mark.parametrize("location", ["<vec>", '"vec"', "#pto<address_space vec>", "#pto.address_space<ub>"])
def test_spellings_of_the_location(location: str):
    text = (
        f'%b = pto.reserve_buffer {{size = 4096, name = "s", auto = false, base = 8192, location = {location}}} -> i32'
    )
    assert reserve().replace('name = "s", ', "") in accepts(text).replace('name = "s", ', "")


def test_the_generic_form():
    attributes = '{name = "s", size = 4096, location = #pto.address_space<vec>, auto = true}'
    canonical = '{name = "s", location = #pto.address_space<vec>, size = 4096 : i64, auto = true}'
    prints(f'%b = "pto.reserve_buffer"() {attributes} : () -> i32', f"%b = pto.reserve_buffer {canonical} -> i32")


def test_a_name_is_reserved_once_in_a_function():
    second = reserve(base="65536").replace("%b", "%d")
    rejects(
        f"{reserve()}\n{second.replace(chr(34) + 's', '~' + chr(34) + 's')}",
        "a buffer 's' is already reserved in this function",
    )
    accepts(f"{reserve()}\n{second}".replace('"s"', '"r"', 1))


def test_importing():
    line = '%b = pto.import_reserved_buffer {name = "s", peer_func = @c_aiv} -> i32'
    assert line in source.accepts(pair(line))
