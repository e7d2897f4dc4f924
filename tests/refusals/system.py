"""What is refused of queries, single bits and special registers."""

from language.source import rejects
from refusals.rule import rows

SPECIAL_REGISTERS_THAT_ARE_NOT = rows(rejects)("""
%w = arith.constant 3 : i32
pto.vecscope { pto.sprsti "AR", %ub_i32[~%n] : !pto.ptr<i32, ub>, i32 }
  ⇒ the offset of pto.sprsti is a constant
%w = arith.constant 3 : i32
pto.vecscope { %p = pto.sprsts "AR", %ub_i32[%n] : !pto.ptr<i32, ub>, i32 -> ~!pto.ptr<f32, ub> }
  ⇒ pto.sprsts requires updated base result to match base type !pto.ptr<i32, ub>, not !pto.ptr<f32, ub>
""")

RULES = [
    *SPECIAL_REGISTERS_THAT_ARE_NOT,
]
