"""What is refused of loops, branches and regions."""

from language.source import rejects
from refusals.rule import rows

LOOPS_THAT_ARE_NOT = rows(rejects)("""
scf.for %j = ~%n to %i step %i { } ⇒ lb has type i32, but the loop counts index; write ': i32' before the body
scf.for %j = %n to %n step ~%m : i32 { } ⇒ step has type i64, but the loop counts i32
%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { ~scf.yield }
  ⇒ scf.yield gives 0 values, but scf.for takes 1 value
%r = ~scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { }
  ⇒ scf.yield gives 0 values, but scf.for takes 1 value
%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { scf.yield ~%f : f32 }
  ⇒ value 0 of scf.yield has type f32, but scf.for takes i32
scf.for %j = %i to %i step %i { ~scf.yield %n : i32 } ⇒ scf.yield gives 1 value, but scf.for takes 0 values
scf.for %j = %i to %i step %i { ~scf.yield
scf.if %c { } }
  ⇒ scf.yield must be the last operation of its region
~"scf.for"(%i, %i, %i) ({ }) : (index, index, index) -> ()
  ⇒ the body of scf.for receives its index as the first argument
~"scf.for"(%i, %i, %i) ({ ^bb0(%j: index, %x: i32): }) : (index, index, index) -> ()
  ⇒ the initial values, the arguments of the body and the results of scf.for differ in type
%r = ~scf.for %j = %i to %i step %i iter_args(%x = %n) -> (i32) { scf.yield %x : i32 } {llvm.loop.aivector_scope}
%q = arith.addi %r, %r : i32
  ⇒ a vector scope has no results; store what is needed later to UB
""")

BRANCHES_THAT_ARE_NOT = rows(rejects)("""
scf.if ~%n { } ⇒ the condition has type i1, not i32
%r = scf.if %c -> i1 { ~scf.yield } else { scf.yield %c : i1 } ⇒ scf.yield gives 0 values, but scf.if takes 1 value
%r = scf.if %c -> i1 { scf.yield %c : i1 } else { scf.yield ~%n : i32 }
  ⇒ value 0 of scf.yield has type i32, but scf.if takes i1
~"scf.if"(%c) ({ ^bb0(%x: i1): }, { }) : (i1) -> () ⇒ the regions of scf.if have no arguments
""")

REGIONS_THAT_ARE_NOT = rows(rejects)("""
%r = scf.execute_region -> i32 { scf.yield ~%f : f32 }
  ⇒ [invalid] value 0 of scf.yield has type f32, but scf.execute_region takes i32
%r = scf.execute_region -> i32 { ~scf.yield } ⇒ [invalid] scf.yield gives 0 values, but scf.execute_region takes 1 value
~scf.execute_region {
^bb0(%x: i32):
}
  ⇒ [invalid] the region of scf.execute_region has no arguments
~scf.execute_region {
scf.yield
^bb1:
}
  ⇒ [syntax] a block must end with a branch or with the end of the region
""")

WHILE_THAT_IS_NOT = rows(rejects)("""
%r = scf.while (%x = %n) : (i32) -> i32 { scf.condition(%c) ~%f : f32 } do { ^bb0(%y: i32): scf.yield %y : i32 }
  ⇒ value 0 of scf.condition has type f32, but scf.while takes i32
%r = scf.while (%x = %n) : (i32) -> i32 { scf.condition(~%n) %x : i32 } do { ^bb0(%y: i32): scf.yield %y : i32 }
  ⇒ the condition has type i1, not i32
%r = ~scf.while (%x = %n) : (i32) -> i32 { scf.condition(%c) %x : i32 } do { ^bb0(%y: f32): scf.yield %n : i32 }
  ⇒ the body of scf.while takes what scf.condition passes: (i32)
~scf.while : () -> () { %q = arith.addi %n, %n : i32 } do { scf.yield }
  ⇒ this region of scf.while must end with scf.condition
~scf.while : () -> () { scf.condition(%c) } do { } ⇒ this region of scf.while must end with scf.yield
scf.if %c { ~scf.condition(%c) } ⇒ scf.condition does not belong in scf.if
""")

HEADS_THAT_ARE_NOT = rows(rejects)("""
%r = scf.for %j = %i to %i step %i iter_args(%x = %n) -> (~f32) { scf.yield %n : i32 }
  ⇒ iter_args[0] has type i32, but the type list says f32
""")

HEADS_WITHOUT_TYPES = rows(rejects, kind="syntax")("""
%r = scf.for %j = %i to %i step %i iter_args(%x = %n) ~{ } ⇒ Expected '->' and the types of the carried values
%r = ~scf.if %c -> i1 { scf.yield %c : i1 } ⇒ scf.if with results needs an else
func.func ~@f(i32) { return } ⇒ the arguments of a function with a body have names: %name: T
""")

A_STEP_THAT_LEADS_NOWHERE_IS_AN_ERROR_OF_THE_KIND_THAT_IT_HAS_IN_A_RUN = rows(rejects, kind="arithmetic")("""
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%z = arith.constant 0 : index
scf.for %j = %c0 to %c1 step ~%z { }
  ⇒ the step of scf.for must be positive, not 0
""")

FUNCTIONS_THAT_ARE_NOT = [
    *rows(rejects)("""
func.func @f() -> i32 { ~return } ⇒ func.return gives 0 values, but func.func takes 1 value
func.func @f(%a: f32) -> i32 { return ~%a : f32 } ⇒ value 0 of func.return has type f32, but func.func takes i32
func.func ~@f() { } ⇒ @f must end with return
func.func @f() { return }
func.func ~@f() { return }
  ⇒ @f is already defined in this module
func.func ~@f(%a: i32) -> i32 attributes {pto.kernel} { return %a : i32 } ⇒ @f is a kernel entry, which returns nothing
func.func @f() { ~func.func @g() { return }
return }
  ⇒ a function belongs in a module
%c = ~arith.constant 1 : i32
func.func @f() { return }
  ⇒ arith.constant must be inside a function
func.func @f(%a: i32) { call ~@g(%a) : (i32) -> ()
return }
  ⇒ there is no function @g in this module
func.func private @g(i32)
func.func @f() { call ~@g() : () -> ()
return }
  ⇒ @g takes 1 arguments, not 0
func.func private @g(i32)
func.func @f(%a: f32) { call @g(~%a) : (f32) -> ()
return }
  ⇒ argument 0 of @g has type i32, not f32
func.func private @g() -> i32
func.func @f() { %r = call ~@g() : () -> f32
return }
  ⇒ @g gives (i32)
func.func @f() { call ~@f() : () -> ()
return }
  ⇒ recursion is not supported: @f -> @f
func.func @f() { call @g() : () -> ()
return }
func.func @g() { call ~@f() : () -> ()
return }
  ⇒ recursion is not supported: @f -> @g -> @f
"""),
]

FLOATS_DO_NOT_COUNT = rows(rejects)("""
scf.for %j = ~%f to %f step %f : f32 { } ⇒ a loop counts index or signless integers, not f32
""")

RULES = [
    *FUNCTIONS_THAT_ARE_NOT,
    *FLOATS_DO_NOT_COUNT,
    *A_STEP_THAT_LEADS_NOWHERE_IS_AN_ERROR_OF_THE_KIND_THAT_IT_HAS_IN_A_RUN,
    *LOOPS_THAT_ARE_NOT,
    *BRANCHES_THAT_ARE_NOT,
    *REGIONS_THAT_ARE_NOT,
    *WHILE_THAT_IS_NOT,
    *HEADS_THAT_ARE_NOT,
    *HEADS_WITHOUT_TYPES,
]
