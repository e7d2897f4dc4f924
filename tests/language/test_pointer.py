"""Pointers and scalar memory."""

import pytest

from language.source import accepts, errors, prints, rejects
from tables import table


@table(
    "cast",
    "%m : i64 -> !pto.ptr<f32, ub>",
    "%i : index -> !pto.ptr<f32, l1>",
    "%ub : !pto.ptr<f32, ub> -> i64",
    "%ub : !pto.ptr<f32, ub> -> !pto.ptr<ui8, ub>",
    "%gm : !pto.ptr<f32, gm> -> !pto.ptr<!pto.hif8>",
)
def test_casts(cast: str):
    accepts(f"%p = pto.castptr {cast}")


def test_a_memref_is_cast_to_a_pointer():
    function = "func.func @f(%a: memref<?xf32, #pto.address_space<gm>>) {{ %p = pto.castptr {}\nreturn }}"
    accepts(function.format("%a : memref<?xf32, #pto.address_space<gm>> -> !pto.ptr<f32, gm>"))


def test_pointer_arithmetic():
    accepts("%p = pto.addptr %ub, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>")
    prints(
        "%p = pto.addptr %ub, %i : <f32, ub> -> <f32, ub>",
        "%p = pto.addptr %ub, %i : !pto.ptr<f32, ub> -> !pto.ptr<f32, ub>",
    )
    rejects(
        "%p = pto.addptr %ub, %i : !pto.ptr<f32, ub> -> ~!pto.ptr<f16, ub>",
        "pto.addptr gives !pto.ptr<f32, ub>, the type of its pointer, not !pto.ptr<f16, ub>",
    )


@table(
    "space, canonical",
    ("gm", "gm"),
    ("l1", "l1"),
    ("mat", "l1"),
    ("l0a", "l0a"),
    ("left", "l0a"),
    ("l0b", "l0b"),
    ("right", "l0b"),
    ("l0c", "l0c"),
    ("acc", "l0c"),
    ("ub", "ub"),
    ("vec", "ub"),
    ("bt", "bt"),
    ("bias", "bt"),
    ("fb", "fb"),
    ("scaling", "fb"),
    ("#pto.address_space<vec>", "ub"),
)
def test_spaces(space: str, canonical: str):
    prints(
        f"%p = pto.castptr %m : i64 -> !pto.ptr<f32, {space}>",
        f"%p = pto.castptr %m : i64 -> !pto.ptr<f32, {canonical}>",
    )


def test_a_pointer_without_a_space_is_into_gm():
    prints("%p = pto.castptr %m : i64 -> !pto.ptr<i8>", "%p = pto.castptr %m : i64 -> !pto.ptr<i8, gm>")


# --- scalar memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pointer", ["%ub : !pto.ptr<f32, ub>", "%gm : !pto.ptr<f32, gm>"])
def test_loads_and_stores(pointer: str):
    name, _, type_ = pointer.partition(" : ")
    accepts(f"%x = pto.load_scalar {name}[%i] : {type_} -> f32\npto.store_scalar %x, {name}[%i] : {type_}, f32")


def test_accesses_past_the_cache():
    accepts(
        "%x = pto.ld_dev %gm_i32[%i] : !pto.ptr<i32, gm> -> i32\npto.st_dev %x, %gm_i32[%i] : !pto.ptr<i32, gm>, i32"
    )
    rejects(
        "%x = pto.ld_dev %gm_i32[%i] {cache = ~1 : i32} : !pto.ptr<i32, gm> -> i32",
        "pto.ld_dev passes the cache by and has no cache policy",
    )
    rejects(
        "pto.vecscope { %x = ~pto.ld_dev %gm_i32[%i] : !pto.ptr<i32, gm> -> i32 }",
        "pto.ld_dev must be outside 'pto.vecscope'",
    )
    (found,) = errors("%x = pto.ld_dev %gm_i32[%i] : !pto.ptr<i32, gm> -> i32", "a2a3")
    assert (found.kind, found.message) == ("wrong-target", "pto.ld_dev does not exist on a2a3")


def test_addresses():
    accepts(
        "%x = pto.ptrtoint %gm : !pto.ptr<f32, gm> -> i64\n%p = pto.inttoptr %x : i64 -> !pto.ptr<f32, gm>\n"
        "%y = pto.load_scalar %p[%i] : !pto.ptr<f32, gm> -> f32\npto.store_scalar %y, %p[%i] : !pto.ptr<f32, gm>, f32"
    )
