"""The rules of modules, functions, scopes, pointers and the system: a kernel that breaks each, and its twin."""

from refusals.rule import Rule, rules

_G = "!pto.ptr<f32, gm>"
_LOOP = "scf.for %j = %s_index to %s_index step %s_index"


def nested(*modules: str) -> str:
    return "module {\n" + "\n".join(modules) + "\n}\n"


def submodule(kind: str, signature: str = "") -> str:
    attribute = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" if kind else ""
    return f"module{attribute} {{\nfunc.func @kernel({signature}) {{ return }}\n}}"


MODULES = rules(
    """
module attributes {pto.target_arch = ~"«a6|a5»"} {
func.func @f() { return }
}
  ⇒ unknown target 'a6'; known: a5, a2, a3, a2a3
module attributes {pto.kernel_kind = ~#pto.kernel_kind<«scalar|vector»>} {
func.func @f() { return }
}
  ⇒ unknown kernel kind 'scalar'; a kernel is vector or cube
""",
    Rule(
        nested(
            "~module« | attributes {pto.kernel_kind = #pto.kernel_kind<cube>} »{\nfunc.func @f() { return }\n}",
            submodule("vector"),
        ),
        "expected VPTO kernel submodule to carry 'pto.kernel_kind'",
    ),
    f"""
{nested(submodule(""), submodule("").replace("@kernel", "~@«kernel|other»"))}
  ⇒ @kernel is already defined in another module
{nested(submodule("vector"), submodule("«vector|cube»").replace("@", "~@"))}
  ⇒ @kernel is already defined for the vector core
{nested(submodule("vector", "%a: i32"), submodule("cube", "%a: «i64|i32»").replace("@", "~@"))}
  ⇒ @kernel has other parameters in another module: (i32)
module {{
«%x = ~pto.get_block_idx|»
func.func @f() {{ return }}
}}
  ⇒ pto.get_block_idx must be inside a function
func.func @f() {{ return }}
func.func ~@«f|g»() {{ return }}
  ⇒ @f is already defined in this module
func.func ~@f() {{ «|return» }} ⇒ @f must end with return
func.func @f() {{
«~func.func @g() {{ return }}|»
return }}
  ⇒ a function belongs in a module
func.func @f() «-> i32 |»{{ ~return }} ⇒ func.return gives 0 values, but func.func takes 1 value
func.func @f(%a: i64, %b: i32) -> i32 {{ return ~%«a|b» : «i64|i32» }}
  ⇒ value 0 of func.return has type i64, but func.func takes i32
func.func ~@f(%a: i32)« -> i32|» attributes {{pto.kernel}} {{ return« %a : i32|» }}
  ⇒ @f is a kernel entry, which returns nothing
func.func private ~@f() attributes {{pto.kernel}}« | {{ return }}» ⇒ @f is a kernel entry, which has a body
func.func @f(%a: ~«tensor<4xf32>|!pto.ptr<f32, gm>») {{ return }}
  ⇒ a function cannot take or give tensor<4xf32>; write a pointer as !pto.ptr<T, space>
func.func @f(%a: ~memref<4x4xf32«, strided<[8, 1]>|», #pto.address_space<gm>>) {{ return }}
  ⇒ a function cannot take or give memref<4x4xf32, strided<[8, 1]>, #pto.address_space<gm>>; write a pointer as
    !pto.ptr<T, space>
func.func private @g(i32)
func.func @f(%a: i32) {{
call ~@«h|g»(%a) : (i32) -> ()
return }}
  ⇒ there is no function @h in this module
func.func private @g(i32)
func.func @f(%a: i32) {{
call ~@g(«|%a») : («|i32») -> ()
return }}
  ⇒ @g takes 1 arguments, not 0
func.func private @g(i32)
func.func @f(%a: i32, %b: i64) {{
call @g(~%«b|a») : («i64|i32») -> ()
return }}
  ⇒ argument 0 of @g has type i32, not i64
func.func private @g() -> i32
func.func @f() {{
%x = call ~@g() : () -> «i64|i32»
return }}
  ⇒ @g gives (i32)
func.func private @g() {{
«call ~@g() : () -> ()|»
return }}
func.func @f() {{
call @g() : () -> ()
return }}
  ⇒ recursion is not supported: @g -> @g
func.func private @g() {{
«pto.vecscope {{ }}|»
return }}
func.func @f() {{
pto.vecscope {{ call ~@g() : () -> () }}
return }}
  ⇒ @g contains pto.vecscope, which must be outside a vector scope
func.func private @g() -> !pto.mask<b8> {{
%m = pto.pset_b8 "PAT_ALL" : !pto.mask<b8>
return %m : !pto.mask<b8> }}
func.func @f() {{
«|pto.vecscope {{»
%x = call ~@g() : () -> !pto.mask<b8>
«|}}»
return }}
  ⇒ @g gives !pto.mask<b8>, so it must be called inside a vector scope
func.func private @c() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{ return }}
func.func @f() {{
pto.section.«vector|cube» {{ call ~@c() : () -> () }}
return }}
  ⇒ @c is for the cube core, but this is code of the vector core
func.func private @c() -> i32 attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}}
func.func private @v() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}}
func.func @f() {{
%x = call ~@c() : () -> i32
call @v() : () -> ()
«%y = arith.addi %x, %x : i32|»
return }}
  ⇒ the result of @c exists on the cube core only, and both run this
""",
)

SECTIONS = rules("""
module attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
func.func @f() {
~pto.section.«cube|vector» { }
return }
}
  ⇒ [lint warning] pto.section.cube never runs: this function is for the vector core
func.func @f() attributes {pto.kernel_kind = ~#pto.kernel_kind<«tensor|cube»>} { return }
  ⇒ unknown kernel kind 'tensor'; a kernel is vector or cube
pto.section.vector { «~pto.section.cube { }|» } ⇒ a section cannot contain another
pto.section.vector { %x = arith.constant 1 : i32«| %y = arith.addi %x, %x : i32» }
«%y = arith.addi ~%x, %x : i32|»
  ⇒ [syntax] %x is not defined here: the region that defines it, in line 3, has ended
pto.section.«cube|vector» { ~pto.vecscope { } } ⇒ pto.vecscope is for the vector core, but this is code of the cube core
pto.section.«vector|cube» { ~pto.mad %p_f16_l0a, %p_f16_l0b, %p_f32_l0c, %s_i64, %s_i64, %s_i64 }
  ⇒ pto.mad is for the cube core, but this is code of the vector core
pto.section.cube { }
«~pto.vecscope { }|pto.section.vector { pto.vecscope { } }»
  ⇒ pto.vecscope stands outside the sections, so that every core runs it, but it is for the vector core
""")

SCOPES = rules(
    *(
        Rule(f"{outer} {{ «~{inner}|» }}{mark}", "a vector scope cannot contain another")
        for outer, mark in (("pto.vecscope", ""), (_LOOP, " {llvm.loop.aivector_scope}"))
        for inner in (
            "pto.vecscope { }",
            "pto.strict_vecscope() { } : () -> ()",
            "scf.for %i = %s_index to %s_index step %s_index { } {llvm.loop.aivector_scope}",
        )
    ),
    f"""
~pto.vecscope {{ «^bb0(%x: i32):|» }} ⇒ the body of pto.vecscope has no arguments; it sees the values around it
pto.vecscope {{ «~scf.yield|» }} ⇒ scf.yield does not belong in pto.vecscope
pto.strict_vecscope(%s_f32) {{ ^bb0(%x: f32): %y = arith.negf ~%«s_f32|x» : f32 }} : (f32) -> ()
  ⇒ a strict vector scope sees only what is passed to it
~pto.strict_vecscope(%s_f32«, %s_f32|») {{ ^bb0(%x: f32): }} : (f32«, f32|») -> ()
  ⇒ 2 values are passed, but the body receives 1
pto.strict_vecscope(~%s_f32) {{ ^bb0(%x: «i32|f32»): }} : (f32) -> ()
  ⇒ the body receives value 0 as i32, but f32 is passed
pto.strict_vecscope(%s_f32) {{ ^bb0(%x: f32): }} : (~«i32|f32») -> ()
  ⇒ arguments[0] has type f32, but the type list says i32
pto.strict_vecscope() {{ }} : () -> (~«i32|») ⇒ [syntax] Expected ')': a vector scope has no results
%r = ~{_LOOP} iter_args(%a = %s_i32) -> (i32) {{ scf.yield %a : i32 }} «{{llvm.loop.aivector_scope}}|»
%x = arith.addi %r, %r : i32
  ⇒ a vector scope has no results; store what is needed later to UB
«pto.vecscope {{|»
%x = ~pto.get_block_idx
«}}|»
  ⇒ [lint warning] pto.get_block_idx is not available to a vector function on hardware
""",
)

POINTERS = rules(f"""
%x = pto.castptr ~%p_f32_gm : {_G} -> !pto.ptr<i8, «ub|gm»>
  ⇒ ptr-to-ptr cast must stay within the same PTO memory space, but {_G} becomes !pto.ptr<i8, ub>
%x = pto.castptr ~%s_i64 : i64 -> «i32|!pto.ptr<i32, ub>» ⇒ pto.castptr needs a pointer on one side; i64 becomes i32
func.func @f(%a: memref<?xf32, #pto.address_space<gm>>) {{
%x = pto.castptr ~%a : memref<?xf32, #pto.address_space<gm>> -> «i64|!pto.ptr<f32, gm>»
return }}
  ⇒ a memref can only be cast to a pointer, not to i64
%x = pto.addptr ~%«s_i64|p_f32_ub», %s_index ⇒ pointer must be a pointer, not i64
~pto.st«_dev|ore_scalar» %s_i32, %p_i32_gm[%s_index] ⇒ [wrong-target a2a3] pto.st_dev does not exist on a2a3
pto.st_dev %s_i32, %p_i32_gm[%s_index] {{«cache_policy = ~"none"|note = "none"»}}
  ⇒ pto.st_dev passes the cache by and has no cache policy
func.func private @g(%p: !pto.ptr<i32, gm>, %i: index, %v: i32) {{
~pto.«st_dev|store_scalar» %v, %p[%i]
return }}
func.func @f(%p: !pto.ptr<i32, gm>, %i: index, %v: i32) {{
call @g(%p, %i, %v) : (!pto.ptr<i32, gm>, index, i32) -> ()
return }}
  ⇒ pto.st_dev belongs in a kernel entry, not in the helper @g
%x = pto.inttoptr %s_i64 : i64 -> {_G}
%y = pto.«addptr|load_scalar» ~%x«, |[»%s_index«|]» : {_G} -> «{_G}|f32»
  ⇒ a pointer made by pto.inttoptr may only be loaded from and stored to by the scalar unit, not used by pto.addptr
""")

SYSTEM = rules(
    f"""
«pto.vecscope {{|»
%a:4 = ~pto.get_vms4_sr : i16, i16, i16, i16
«}}|»
  ⇒ pto.get_vms4_sr must be outside 'pto.vecscope'
«{_LOOP}|pto.vecscope» {{
~pto.sprclr "AR"
}}« {{llvm.loop.aivector_scope}}|»
  ⇒ pto.sprclr must be inside pto.vecscope or pto.strict_vecscope, not a marked loop
«|pto.vecscope {{»
~pto.sprsts "AR", %p_i32_ub[%s_i32]
«|}}»
  ⇒ pto.sprsts must be inside pto.vecscope or pto.strict_vecscope
%k = arith.constant 1 : i32
«|pto.vecscope {{»
%m = pto.pset_b32 "PAT_ALL" : !pto.mask<b32>
~pto.sprsti "AR", %p_i32_ub[%k]
«|}}»
  ⇒ pto.sprsti must be inside pto.vecscope or pto.strict_vecscope
pto.vecscope {{
%n = pto.sprsts "AR", %p_i32_ub[%s_i32] : !pto.ptr<i32, ub>, i32 -> ~!pto.ptr<«ui32|i32», ub>
}}
  ⇒ pto.sprsts requires updated base result to match base type !pto.ptr<i32, ub>, not !pto.ptr<ui32, ub>
%k = arith.constant 1 : i32
pto.vecscope {{
pto.sprsti "AR", %p_i32_ub[~%«s_i32|k»]
}}
  ⇒ the offset of pto.sprsti is a constant
""",
)


RULES = [*MODULES, *SECTIONS, *SCOPES, *POINTERS, *SYSTEM]
