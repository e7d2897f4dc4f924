"""The rules of scalar code and control flow, one by one: a kernel that breaks each, and its twin."""

from language.source import rejects
from refusals.rule import Rule, rows, rules

_I = "%s_index"
_LOOP = f"scf.for %i = {_I} to {_I} step {_I}"

CONSTANTS = rules("""
%x = arith.constant ~1 : «si32|i32» ⇒ [syntax] arith.constant cannot be of type si32; constants are signless
%x = arith.constant ~1 : «ui8|i8» ⇒ [syntax] arith.constant cannot be of type ui8; constants are signless
%x = arith.constant ~1.0 : «f8E4M3FN|f16» ⇒ [syntax] arith.constant cannot be of type f8E4M3FN
%x = arith.constant ~1.0 : «!pto.hif8|bf16» ⇒ [syntax] arith.constant cannot be of type !pto.hif8
%x = arith.constant ~«256|255» : i8 ⇒ [syntax] 256 does not fit in i8
%x = arith.constant ~«2|1» : i1 ⇒ [syntax] 2 does not fit in i1
%x = arith.constant ~«-129|-128» : i8 ⇒ [syntax] -129 does not fit in i8
%x = arith.constant ~«0x1FFFFFFFF|0xFFFFFFFF» : f32 ⇒ [syntax] 0x1FFFFFFFF does not fit in f32
%x = arith.constant ~«1.5|1» : i32 ⇒ [syntax] 1.5 is not an integer, but the type is i32
%x = arith.constant ~1«|.0» : f32 ⇒ [syntax] a constant of type f32 is written with a point, as 1.0
%x = arith.constant ~true : «i32|i1» ⇒ [syntax] true and false are of type i1
%x = arith.constant dense<«[1, 2]|0»> : vector<4xi16>~
  ⇒ [syntax] Shape mismatch in dense literal. Expected [4] shape from the type, but got [2] shape.
%x = arith.constant ~dense<1> : «tensor|vector»<4xi16>
  ⇒ [syntax] a dense constant is a vector of integers or floats, such as dense<0> : vector<4xi16>
%x = arith.constant dense<1> : ~vector<«65537|65536»xi16> ⇒ [syntax] a dense literal has at most 65536 elements
%x = arith.constant 1~«| : i32» ⇒ [syntax] Expected ':' and the type of the constant
""")

ARITHMETIC = rules(
    """
%x = arith.addi %s_i32, ~%s_«i64|i32» : i32 ⇒ rhs has type i64, but i32 is written
%x = arith.addi ~%s_«ui32|i32», %s_i32 : i32 ⇒ lhs has type ui32, but i32 is written
%x = arith.negf ~%s_«i32|f32» : «i32|f32» ⇒ arith.negf takes floats, not i32
""",
    *(
        Rule(
            f"%c = arith.constant «{amount}|{last}» : {type_}\n%x = arith.{name} %s_{type_}, ~%c : {type_}",
            f"arith.{name} of {type_} by {amount}: only 0 to {last} are defined",
            "lint",
            severity="warning",
        )
        for name, type_, amount, last in (("shli", "i32", 32, 31), ("shrsi", "i16", -1, 15), ("shrui", "index", 64, 63))
    ),
    """
%x = math.absi ~%s_«f32|i32» : «f32|i32» ⇒ math.absi takes integers and index, not f32
%x = arith.cmpi ~«lt|slt», %s_i32, %s_i32 : i32
  ⇒ [syntax] unknown predicate 'lt'; known: eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge
%x = arith.cmpf ~«lt|olt», %s_f32, %s_f32 : f32
  ⇒ [syntax] unknown predicate 'lt'; known: false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une,
    uno, true
%x = arith.cmpi eq, %s_i32, ~%s_«i64|i32» : i32 ⇒ rhs has type i64, but i32 is written
%x = "arith.cmpi"(%s_i32, %s_i32) {predicate = ~«10|9» : i64} : (i32, i32) -> i1
  ⇒ [syntax] predicates are numbered 0 to 9
%x = ~"arith.cmpi"(%s_i32, %s_i32) {predicate = 0 : i64} : (i32, i32) -> «i32|i1»
  ⇒ the result of arith.cmpi has type i1, not i32
%x = arith.select ~%s_«i32|i1», %s_f32, %s_f32 : f32 ⇒ the condition has type i1, not i32
%x = arith.select %s_i1, %s_f32, ~%s_«f16|f32» : f32 ⇒ if_false has type f16, but f32 is written
%x = ~arith.index_cast %s_i64 : i64 to «i32|index»
  ⇒ arith.index_cast from i64 to i32: exactly one of the two must be index
%x = ~arith.extsi %s_i32 : i32 to «i16|i64» ⇒ arith.extsi from i32 to i16: the result must be wider
%x = ~arith.extui %s_i32 : i32 to «i32|i64» ⇒ arith.extui from i32 to i32: the result must be wider
%x = ~arith.trunci %s_i32 : i32 to «i64|i16» ⇒ arith.trunci from i32 to i64: the result must be narrower
%x = ~arith.truncf %s_f32 : f32 to «f64|f16» ⇒ arith.truncf from f32 to f64: the result must be narrower
%x = ~arith.extf %s_f16 : f16 to «bf16|f32» ⇒ arith.extf from f16 to bf16: the result must be wider
%x = ~arith.bitcast %s_f32 : f32 to «i64|i32» ⇒ arith.bitcast from f32 to i64: both must have the same width
%x = arith.sitofp ~%s_«f32|i32» : «f32|i32» to f32 ⇒ arith.sitofp takes integers, not f32
%x = ~arith.fptosi %s_f32 : f32 to «f16|i32» ⇒ arith.fptosi gives integers, not f16
%x = ~builtin.unrealized_conversion_cast %s_i32 : i32 to «ui64|ui32»
  ⇒ builtin.unrealized_conversion_cast from i32 to ui64: both must have the same width
%x, %y = ~arith.addui_extended %s_i32, %s_i32 : i32, «i32|i1» ⇒ the carry has type i1, not i32
%x, %y = ~"arith.addui_extended"(%s_i32, %s_i32) : (i32, i32) -> («i64|i32», i1)
  ⇒ low has type i64, but lhs has type i32
%x, %y = "arith.mulsi_extended"(%s_i32, ~%s_«i64|i32») : (i32, «i64|i32») -> (i32, i32)
  ⇒ rhs has type i64, but the result has type i32
%x = "arith.negf"(~%s_«f16|f32») : («f16|f32») -> f32 ⇒ operand has type f16, but the result has type f32
%x = "arith.select"(%s_i1, %s_i32, ~%s_«i64|i32») : (i1, i32, «i64|i32») -> i32
  ⇒ if_false has type i64, but the result has type i32
%x = arith.addi %s_i32, %s_i32 ~«wrap|overflow<nsw>» : i32 ⇒ [syntax] unknown flag 'wrap'; known: exact, ...
%x = ~math.«tanh|exp» %s_f32 : f32 ⇒ [unsupported] 'math.tanh' is not part of the language
%x = ~arith.«addx|addi» %s_i32, %s_i32 : i32 ⇒ [unsupported] 'arith.addx' is not part of the language; ...
""",
)

CONTROL = rules(
    f"""
scf.for %i = ~%s_«i32|index» to {_I} step {_I} {{ }}
  ⇒ lb has type i32, but the loop counts index; write ': i32' before the body
scf.for %i = %s_i32 to ~%s_«i64|i32» step %s_i32 : i32 {{ }} ⇒ ub has type i64, but the loop counts i32
scf.for %i = ~%s_«f32|i32» to %s_«f32|i32» step %s_«f32|i32» : «f32|i32» {{ }}
  ⇒ a loop counts index or signless integers, not f32
%c = arith.constant «0|1» : index
scf.for %i = {_I} to {_I} step ~%c {{ }}
  ⇒ [arithmetic] the step of scf.for must be positive, not 0
%c = arith.constant «-1|1» : index
scf.for %i = {_I} to {_I} step ~%c {{ }}
  ⇒ [arithmetic] the step of scf.for must be positive, not -1
%r = {_LOOP} iter_args(%a = %s_i32) -> (i32) {{ scf.yield ~%«s_i64|a» : «i64|i32» }}
  ⇒ value 0 of scf.yield has type i64, but scf.for takes i32
%r = {_LOOP} iter_args(%a = %s_i32) -> (i32) {{ ~scf.yield %a«, %a|» : i32«, i32|» }}
  ⇒ scf.yield gives 2 values, but scf.for takes 1 value
%r = ~{_LOOP} iter_args(%a = %s_i32) -> (i32) {{ «|scf.yield %a : i32» }}
  ⇒ scf.yield gives 0 values, but scf.for takes 1 value
%r«|:2» = ~{_LOOP} iter_args(%a = %s_i32«|, %b = %s_i64») -> (i32, i64) {{
scf.yield %a, %«s_i64|b» : i32, i64 }}
  ⇒ [syntax] 1 values, but 2 types
%r = {_LOOP} iter_args(%a = %s_i32) «~|-> (i32) »{{ scf.yield %a : i32 }}
  ⇒ [syntax] Expected '->' and the types of the carried values
{_LOOP} {{
~scf.«condition(%s_i1)|yield» }}
  ⇒ scf.condition does not belong in scf.for
{_LOOP} {{
~scf.yield
«pto.trap|» }}
  ⇒ scf.yield must be the last operation of its region
~"scf.for"(%s_index, %s_index, %s_index, %s_i32) ({{
^bb0(%i: index, %a: «i64|i32»):
scf.yield %s_i32 : i32
}}) : (index, index, index, i32) -> i32
  ⇒ the initial values, the arguments of the body and the results of scf.for differ in type
~"scf.if"(%s_i1) ({{
«^bb0(%a: i32):|»
scf.yield
}}, {{ }}) : (i1) -> ()
  ⇒ the regions of scf.if have no arguments
scf.if ~%s_«i32|i1» {{ }} ⇒ the condition has type i1, not i32
%r = ~scf.if %s_i1 -> (i32) {{ scf.yield %s_i32 : i32 }}« | else {{ scf.yield %s_i32 : i32 }}»
  ⇒ [syntax] scf.if with results needs an else
%r = scf.if %s_i1 -> (i32) {{ scf.yield %s_i32 : i32 }} else {{ scf.yield ~%s_«i64|i32» : «i64|i32» }}
  ⇒ value 0 of scf.yield has type i64, but scf.if takes i32
%r = scf.while (%a = %s_i32) : (i32) -> i32 {{ scf.condition(~%«a|s_i1») %a : i32 }} do {{
^bb0(%b: i32):
scf.yield %b : i32 }}
  ⇒ the condition has type i1, not i32
%r = scf.while (%a = %s_i32) : (i32) -> i32 {{ scf.condition(%s_i1) ~%«s_i64|a» : «i64|i32» }} do {{
^bb0(%b: i32):
scf.yield %b : i32 }}
  ⇒ value 0 of scf.condition has type i64, but scf.while takes i32
%r = ~scf.while (%a = %s_i32) : (i32) -> i32 {{ scf.condition(%s_i1) %a : i32 }} do {{
«|^bb0(%b: i32):»
scf.yield %s_i32 : i32 }}
  ⇒ the body of scf.while takes what scf.condition passes: (i32)
~scf.while : () -> () {{ «|scf.condition(%s_i1)» }} do {{ scf.yield }}
  ⇒ this region of scf.while must end with scf.condition
~scf.while : () -> () {{ scf.condition(%s_i1) }} do {{ «|scf.yield» }}
  ⇒ this region of scf.while must end with scf.yield
%r = ~"scf.while"(%s_i32) ({{
^bb0(%a: «i64|i32»):
scf.condition(%s_i1) %s_i32 : i32
}}, {{
^bb0(%b: i32):
scf.yield %b : i32
}}) : (i32) -> i32
  ⇒ the first region of scf.while does not take what the loop starts with
""",
    *(
        Rule(
            f"~scf.«{name}|if %s_i1 {{ }}»",
            f"'scf.{name}' is not part of the language...",
            "unsupported",
        )
        for name in ("forall", "parallel", "index_switch")
    ),
    """
~«cf.switch|pto.trap» ⇒ [unsupported] 'cf.switch' is not part of the language: cf.cond_br or scf.if...
cf.br ~«^bb2|^bb1»
^bb1:
  ⇒ [syntax] there is no block ^bb2
~«affine.for|pto.trap» ⇒ [unsupported] 'affine.for' is not part of the language
~«llvm.trap|pto.trap» ⇒ [unsupported] 'llvm.trap' is not part of the language
""",
)


CONVERSIONS = rows(rejects)("""
%r = ~arith.index_cast %n : i32 to i64 ⇒ arith.index_cast from i32 to i64: exactly one of the two must be index
%r = ~arith.index_castui %i : index to index
  ⇒ arith.index_castui from index to index: exactly one of the two must be index
%r = ~arith.extsi %n : i32 to i16 ⇒ arith.extsi from i32 to i16: the result must be wider
%r = ~arith.trunci %n : i32 to i32 ⇒ arith.trunci from i32 to i32: the result must be narrower
%r = ~arith.extf %h : f16 to bf16 ⇒ arith.extf from f16 to bf16: the result must be wider
%r = ~arith.truncf %f : f32 to f64 ⇒ arith.truncf from f32 to f64: the result must be narrower
%r = ~arith.bitcast %f : f32 to i64 ⇒ arith.bitcast from f32 to i64: both must have the same width
%r = ~arith.sitofp %n : i32 to i32 ⇒ arith.sitofp gives floats, not i32
%r = arith.sitofp ~%i : index to f32 ⇒ arith.sitofp takes integers, not index
%r = ~arith.fptosi %f : f32 to index ⇒ arith.fptosi gives integers, not index
%r = ~builtin.unrealized_conversion_cast %n : i32 to ui16
  ⇒ builtin.unrealized_conversion_cast from i32 to ui16: both must have the same width
%r = builtin.unrealized_conversion_cast ~%f : f32 to i32 ⇒ builtin.unrealized_conversion_cast takes integers, not f32
""")

OPERANDS_THAT_ARE_NOT = rows(rejects)("""
%r = arith.addi ~%m, %n : i32 ⇒ lhs has type i64, but i32 is written
%r, %o = ~arith.addui_extended %n, %n : i32, i8 ⇒ the carry has type i1, not i8
%r = arith.select %c, %f, ~%n : f32 ⇒ if_false has type i32, but f32 is written
%x = "arith.addi"(%n, ~%m) : (i32, i64) -> i32 ⇒ rhs has type i64, but the result has type i32
""")

TEXTS_THAT_ARE_NOT = rows(rejects, kind="syntax")("""
%x = ~"arith.addi"(%n) : (i32) -> i32 ⇒ the operands of arith.addi are: lhs, rhs
~"arith.cmpi"(%n, %n) : (i32, i32) -> i1 ⇒ arith.cmpi needs the attribute 'predicate'
""")

ONLY_ONE_ROUNDING_MODE = rows(rejects, kind="syntax")("""
%r = arith.truncf %f ~downward : f32 to f16
  ⇒ unknown flag 'downward'; known: exact, fastmath, nneg, overflow, to_nearest_even
""")

RULES = [
    *ONLY_ONE_ROUNDING_MODE,
    *CONSTANTS,
    *ARITHMETIC,
    *CONTROL,
    *CONVERSIONS,
    *OPERANDS_THAT_ARE_NOT,
    *TEXTS_THAT_ARE_NOT,
]
