"""Queries, the control register, special registers, debugging."""

import pytest

from language.source import accepts, prints, rejects, running
from tables import table

QUERIES = ["get_block_idx", "get_block_num", "get_subblock_idx", "get_subblock_num"]


@pytest.mark.parametrize("name", QUERIES)
def test_queries(name: str):
    prints(f"%x = pto.{name} : i64", f"%x = pto.{name}")
    accepts(f"%x = pto.{name}\n%y = arith.index_cast %x : i64 to index")
    rejects(f"%x = pto.{name} : ~i32", f"pto.{name} gives i64, not i32")


def test_the_control_register():
    accepts(
        "%x = pto.get_ctrl : i64\n%y = pto.sbitset1 %x, %m : i64, i64 -> i64\n"
        "%z = pto.sbitset0 %y, %m : i64, i64 -> i64\npto.set_ctrl %z : i64"
    )


@pytest.mark.parametrize("name", ["sbitset0", "sbitset1"])
def test_single_bits(name: str):
    rejects(f"%x = pto.{name} %m, %m : i64, i64 -> ~i32", f"pto.{name} gives i64, not i32")


def test_the_progress_of_a_merge():
    accepts("%x, %y, %z, %w = pto.get_vms4_sr : i16, i16, i16, i16")
    accepts("%x:4 = pto.get_vms4_sr : i16, i16, i16, i16\n%y = arith.addi %x#0, %x#3 : i16")


def scoped(body: str) -> str:
    return f"%w = arith.constant 3 : i32\npto.vecscope {{ {body} }}"


@table(
    "body",
    'pto.sprclr "AR"',
    'pto.sprsti "AR", %ub_i32[%w] : !pto.ptr<i32, ub>, i32',
    'pto.sprsts "AR", %ub_i32[%n] : !pto.ptr<i32, ub>, i32',
    '%p = pto.sprsti "AR", %ub_i32[%w] : !pto.ptr<i32, ub>, i32 -> !pto.ptr<i32, ub>',
    '%p = pto.sprsts "AR", %ub_i32[%n] : !pto.ptr<i32, ub>, i32 -> !pto.ptr<i32, ub>',
)
def test_special_registers(body: str):
    accepts(scoped(body))


def test_special_registers_need_a_scope_of_their_own_kind():
    assert 'pto.vecscope {\n      pto.sprclr "AR"\n    }' in running('pto.sprclr "AR"')


@table(
    "body, printed",
    ("pto.trap", "pto.trap"),
    ('pto.print "done"', 'pto.print "done"'),
    ('pto.print "n = %d", %n : i32', 'pto.print "n = %d", %n : i32'),
    ('pto.print ins("%f", %f : f32)', 'pto.print "%f", %f : f32'),
    ("pto.print %n, %f : i32, f32", "pto.print %n, %f : i32, f32"),
)
def test_debugging(body: str, printed: str):
    prints(body, printed)
