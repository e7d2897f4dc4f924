"""What is refused of queries, single bits and special registers."""

from language.source import rejects
from refusals.rule import rows

SPECIAL_REGISTERS_THAT_ARE_NOT = rows(rejects)("""
%w = arith.constant 3 : i32
pto.vecscope { pto.sprsts "AR", ~%ub[%n] : !pto.ptr<f32, ub>, i32 }
  ⇒ pto.sprsts stores to a pointer of i32 or ui32, not f32
%w = arith.constant 3 : i32
pto.vecscope { pto.sprsts "AR", ~%gm_i32[%n] : !pto.ptr<i32, gm>, i32 }
  ⇒ dest must point to ub, not gm
%w = arith.constant 3 : i32
pto.vecscope { pto.sprsts "AR", %ub_i32[~%m] : !pto.ptr<i32, ub>, i64 }
  ⇒ offset must be i32, not i64
%w = arith.constant 3 : i32
pto.vecscope { pto.sprsti "AR", %ub_i32[~%n] : !pto.ptr<i32, ub>, i32 }
  ⇒ the offset of pto.sprsti is a constant
%w = arith.constant 3 : i32
pto.vecscope { %far = arith.constant 128 : i32
pto.sprsti "AR", %ub_i32[~%far] : !pto.ptr<i32, ub>, i32 }
  ⇒ offset is 128; it must be -128..127
%w = arith.constant 3 : i32
pto.vecscope { %p = pto.sprsts "AR", %ub_i32[%n] : !pto.ptr<i32, ub>, i32 -> ~!pto.ptr<f32, ub> }
  ⇒ pto.sprsts requires updated base result to match base type !pto.ptr<i32, ub>, not !pto.ptr<f32, ub>
""")

THERE_IS_ONE_SPECIAL_REGISTER = rows(rejects, kind="syntax")("""
%w = arith.constant 3 : i32
pto.vecscope { pto.sprclr ~"SQZN" }
  ⇒ unknown register 'SQZN'; known: AR
""")

RULES = [
    *SPECIAL_REGISTERS_THAT_ARE_NOT,
    *THERE_IS_ONE_SPECIAL_REGISTER,
]
