"""What cannot be read: the first error stands at its token."""

from language.source import rejects
from refusals.rule import rows

TEXTS_THAT_ARE_NOT = rows(rejects, kind="syntax")("""
~pto.vabz %v ⇒ unknown operation 'pto.vabz'; did you mean 'pto.vabs'?
~pto.vsubs %v ⇒ unknown operation 'pto.vsubs': pto.vadds of the negated scalar does the same
~pto.vands %v ⇒ unknown operation 'pto.vands': pto.vand with a pto.vbr of the scalar does the same
~pto.vbcnt %v ⇒ unknown operation 'pto.vbcnt': no instruction counts bits
~pto.vperm %v ⇒ unknown operation 'pto.vperm': pto.vselr takes lanes by their numbers
~nonsense ⇒ unknown operation 'nonsense'
pto.set_atomic_add ~%n : i32 ⇒ expected '=' after the result %n; the operation before it takes no such operand
%x = pto.get_block_idx ~%n ⇒ expected '=' after the result %n; the operation before it takes no such operand
~%x: i32 = arith.constant 1 : i32 ⇒ expected '=' after the result %x; the operation before it takes no such operand
%x = ~"arith.constant"() <{value = 3 : i32}> : () -> i64
  ⇒ arith.constant needs the attribute 'value' in the type of its result
~qto.vabs %v ⇒ unknown operation 'qto.vabs'
%x = arith.negf ~%g : f32 ⇒ %g is not defined here; did you mean %gm?
%x = arith.negf ~%zzz : f32 ⇒ %zzz is not defined here
%x = arith.negf ~%y : f32
%y = arith.negf %f : f32
  ⇒ %y is not defined here: its definition follows in line 4
%x = arith.negf ~%y : f32
%w, %y = arith.mulsi_extended %n, %n : i32
  ⇒ %y is not defined here: its definition follows in line 4
scf.if %c { %y = arith.negf %f : f32 }
%x = arith.negf ~%y : f32
  ⇒ %y is not defined here: the region that defines it, in line 3, has ended
%x = arith.negf ~%f#1 : f32 ⇒ %f has 1 results; there is no #1
%x = arith.negf %f : f32
~%x = arith.negf %f : f32
  ⇒ %x is already defined, in line 3
scf.if %c { ~%f = arith.negf %f : f32 } ⇒ %f is already defined, in line 2
~%x, %y = arith.negf %f : f32 ⇒ arith.negf has 1 results, but 2 are named
~%x:3 = arith.mulsi_extended %n, %n : i32 ⇒ arith.mulsi_extended has 2 results, but 3 are named
%x = arith.negf %f ~f32 ⇒ unknown flag 'f32'; known: exact, fastmath, nneg, overflow, to_nearest_even
%x = arith.negf ~: f32 ⇒ expected operand: an SSA value such as %x
scf.if %c ~return ⇒ expected '{' and a body
%x = arith.constant 1 : ~i ⇒ type expected
%x = pto.get_block_idx ~-> i64 ⇒ expected an operation or '}'
scf.for %j = %i to %i step %i {
~scf.yield
%x = arith.negf %f : f32 }
  ⇒ scf.yield must be the last operation of its region
~return
%x:2 = arith.mulsi_extended %n, %n : i32
  ⇒ func.return must be the last operation of its region
pto.copy_ubuf_to_ubuf %ub, %ub, %m, %m, %m, %m~
  ⇒ Expected ',' before dest_gap: pto.copy_ubuf_to_ubuf takes 7 operands (source, dest, sid, n_burst, len_burst,
    source_gap, dest_gap), not 6
%x = arith.addi %n ~: i32 ⇒ Expected ',' before rhs: arith.addi takes 2 operands (lhs, rhs), not 1
%x = arith.addi %n, %n~, %n : i32 ⇒ arith.addi takes 2 operands (lhs, rhs); this is one more
%x = arith.constant ~1e-3 : f32 ⇒ a float needs a point: write 1.0e-3
%x = arith.constant -~2E5 : f32 ⇒ a float needs a point: write -2.0E5
%x = arith.constant ~.5 : f32 ⇒ a number begins with a digit: write 0.5
scf.for %j = %i to ~4 step %i { }
  ⇒ expected ub: an SSA value such as %x, not a number; write %c = arith.constant 4 : index before it, and %c here
%x = arith.addi %n, ~1 : i32
  ⇒ expected rhs: an SSA value such as %x, not a number; write %c = arith.constant 1 : T before it, and %c here
~pto.vrsqrt %f : f32 ⇒ unknown operation 'pto.vrsqrt': pto.vsqrt and then pto.vdiv do the same
~vrsqrt %f : f32 ⇒ unknown operation 'vrsqrt': pto.vsqrt and then pto.vdiv do the same
~set_flag %f : f32 ⇒ unknown operation 'set_flag'; did you mean 'pto.set_flag'?
""")

RULES = [*TEXTS_THAT_ARE_NOT]
