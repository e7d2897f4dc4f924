"""Buffers that a function reserves for a FIFO and another one imports."""

import pytest

from language import source
from language.view_kernel import accepts, prints, rejects, twins

FIXED = 'name = "s", location = #pto.address_space<{}>, size = {} : i64, auto = false, base = {} : i64'


def reserve(location: str = "vec", size: str = "4096", base: str = "8192") -> str:
    return f"%b = pto.reserve_buffer {{{FIXED.format(location, size, base)}}} -> i32"


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


@pytest.mark.parametrize(
    "text, message, kind",
    [
        (
            reserve(location="«left|mat»").replace("#pto.", "~#pto.", 1),
            "pto.reserve_buffer needs a location: vec or mat, not l0a",
            "invalid",
        ),
        (reserve(size="~«0|1»"), "size is 0; it must be positive", "invalid"),
        (reserve(base="~«8200|8192»"), "base is 8200; it must be a multiple of 256", "invalid"),
        (reserve(base="~«-256|256»"), "base is -256; it must be a multiple of 256", "invalid"),
        (
            reserve(base="~«258048|4096»", size="8192"),
            "the buffer occupies ub[258048:266240], but ub of a5 has 262144 bytes",
            "out-of-bounds",
        ),
        (
            reserve(location="mat", base="~«524288|520192»"),
            "the buffer occupies l1[524288:528384], but l1 of a5 has 524288 bytes",
            "out-of-bounds",
        ),
        (
            reserve().replace("auto = false", "auto = «true|false»").replace("8192", "~8192"),
            "expects no 'base' where auto is true: the place is planned",
            "invalid",
        ),
        (
            reserve().replace(", base = 8192 : i64", "«|, base = 8192 : i64»").replace("pto.", "~pto.", 1),
            "expects 'base' where auto is not true",
            "invalid",
        ),
        (
            reserve().replace("auto = false", "auto = ~«1 : i32|false»"),
            "auto must be true or false, not 1 : i32",
            "invalid",
        ),
        (reserve().replace("base = 8192 : i64", 'base = ~«"b"|256»'), 'base must be an integer, not "b"', "invalid"),
        (
            reserve().replace('name = "s", ', '«|name = "s", »').replace("pto.", "~pto.", 1),
            "pto.reserve_buffer needs the attribute 'name', a string",
            "invalid",
        ),
        (reserve().replace("-> i32", "-> ~«i64|i32»"), "the address of a buffer has type i32, not i64", "invalid"),
        (
            reserve().replace("size = 4096 : i64, ", "«|size = 4096 : i64, »").replace("pto.", "~pto.", 1),
            "pto.reserve_buffer needs the attribute 'size'",
            "syntax",
        ),
    ],
)
def test_rules_of_reserving(text: str, message: str, kind: str):
    twins(text, message, kind)


def test_a_name_is_reserved_once_in_a_function():
    second = reserve(base="65536").replace("%b", "%d")
    rejects(
        f"{reserve()}\n{second.replace(chr(34) + 's', '~' + chr(34) + 's')}",
        "a buffer 's' is already reserved in this function",
    )
    accepts(f"{reserve()}\n{second}".replace('"s"', '"r"', 1))


def pair(imported: str) -> str:
    consumer = (
        f"func.func @c_aiv() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n{reserve()}\nreturn }}"
    )
    producer = f"func.func @c_aic() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n{imported}\nreturn }}"
    return f"module {{\n{consumer}\n{producer}\n}}"


def test_importing():
    line = '%b = pto.import_reserved_buffer {name = "s", peer_func = @c_aiv} -> i32'
    assert line in source.accepts(pair(line))


@pytest.mark.parametrize(
    "line, message",
    [
        ('{name = "s", peer_func = ~@«other|c_aiv»} -> i32', "there is no function @other"),
        ('{name = ~"«r|s»", peer_func = @c_aiv} -> i32', "@c_aiv reserves no buffer 'r'"),
        ('{name = ~"s", peer_func = @c_«aic|aiv»} -> i32', "@c_aic reserves no buffer 's'"),
        (
            '{name = "s", peer_func = ~«"c_aiv"|@c_aiv»} -> i32',
            'peer_func must be a function such as @consumer, not "c_aiv"',
        ),
        ('{name = "s", peer_func = @c_aiv} -> ~«i64|i32»', "the address of a buffer has type i32, not i64"),
    ],
)
def test_rules_of_importing(line: str, message: str):
    source.twins(pair(f"%b = pto.import_reserved_buffer {line}"), message)
