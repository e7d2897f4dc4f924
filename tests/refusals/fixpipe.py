"""What is refused of clauses of fixpipe stores."""

from language.scalar_kernel import rejects
from language.store_kernel import store
from refusals.rule import rows

ATOMIC_WORDS = rows(
    lambda clause, message: rejects(store("gm", clause), message, kind="syntax"),
    ("atomic(^op = add)", "Expected 'type' = atomic_type"),
    ("atomic(type = f32^)", "Expected ',' before the operation of atomic"),
    ("atomic(type = ^i8, op = add)", "unknown atomic_type 'i8'; known: f32, f16, bf16, s32, s16, s8"),
    ("atomic(type = f32, op = ^mul)", "unknown atomic_op 'mul'; known: add, max, min"),
    ("atomic(type = f32, op = add), ^sat", "clause 'sat' must come before 'atomic'"),
)

RULES = [*ATOMIC_WORDS]
