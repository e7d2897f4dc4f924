"""Open types: worked out from their uses, or an error that asks for them."""

import re

from language.source import accepts, errors, rejects
from tables import table

CAST = "%p = pto.castptr %m : i64 -> !pto.ptr\n"
LOAD = "%x = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<64xf32>"
COPY = (
    "pto.copy_gm_to_ubuf {}, {}, %m, %m, %m, %m, %m, %c, %m, %m, %m\n"
    " : !pto.ptr, !pto.ptr, i64, i64, i64, i64, i64, i1, i64, i64, i64\n"
)


def type_of(name: str, text: str) -> str:
    """The type that the canonical text gives to a value where it is defined."""
    for line in text.splitlines():
        if line.strip().startswith(f"{name} = "):
            return line.rpartition(" -> ")[2] if " -> " in line else line.rpartition(" : ")[2]
        if f"{name}: " in line:
            return line.partition(f"{name}: ")[2].split(">")[0] + ">"
    raise AssertionError(f"{name} is not defined in\n{text}")


@table(
    "body, expected",
    (f"{CAST}pto.vecscope {{ {LOAD} }}", "!pto.ptr<f32, ub>"),
    (
        f"{CAST}pto.vecscope {{ pto.vsts %v, %p[%i], %k : !pto.vreg<64xf32>, !pto.ptr, !pto.mask<b32> }}",
        "!pto.ptr<f32, ub>",
    ),
    (f"{CAST}pto.vecscope {{ %x = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<128xf16> }}", "!pto.ptr<f16, ub>"),
    (f"{CAST}%x = pto.load_scalar %p[%i] : !pto.ptr<i32, gm> -> i32", "!pto.ptr<i32, gm>"),
    (f"{CAST}pto.store_scalar %n, %p[%i] : !pto.ptr<i32, ub>, i32", "!pto.ptr<i32, ub>"),
    (f"{CAST}{COPY.format('%gm', '%p')}", "!pto.ptr<f32, ub>"),
    (f"{CAST}%q = pto.castptr %m : i64 -> !pto.ptr\n{COPY.format('%p', '%q')}", "!pto.ptr<i8, gm>"),
    (
        f"{CAST}%q = pto.addptr %p, %i : !pto.ptr -> !pto.ptr\n"
        "pto.vecscope { %x = pto.vlds %q[%i] : !pto.ptr -> !pto.vreg<64xf32> }",
        "!pto.ptr<f32, ub>",
    ),
    (
        f"{CAST}%r = scf.for %j = %i to %i step %i iter_args(%q = %p) -> (!pto.ptr) {{\n"
        "pto.vecscope { %x = pto.vlds %q[%i] : !pto.ptr -> !pto.vreg<64xf32> }\nscf.yield %q : !pto.ptr }",
        "!pto.ptr<f32, ub>",
    ),
    (
        f"{CAST}%q = arith.select %c, %p, %p : !pto.ptr\n"
        "pto.vecscope { %x = pto.vlds %q[%i] : !pto.ptr -> !pto.vreg<64xf32> }",
        "!pto.ptr<f32, ub>",
    ),
    (
        f"{CAST}%q = scf.if %c -> !pto.ptr {{ scf.yield %p : !pto.ptr }} else {{ scf.yield %p : !pto.ptr }}\n"
        "pto.vecscope { %x = pto.vlds %q[%i] : !pto.ptr -> !pto.vreg<64xf32> }",
        "!pto.ptr<f32, ub>",
    ),
    (
        f"{CAST}pto.strict_vecscope(%p, %i) {{ ^bb0(%q: !pto.ptr, %j: index):\n"
        "%x = pto.vlds %q[%j] : !pto.ptr -> !pto.vreg<64xf32> } : (!pto.ptr, index) -> ()",
        "!pto.ptr<f32, ub>",
    ),
    (
        "%p = pto.castptr %gm : !pto.ptr<f32, gm> -> !pto.ptr\n%x = pto.load_scalar %p[%i] : !pto.ptr -> i32",
        "!pto.ptr<i32, gm>",
    ),
    (
        f"{CAST}%r = scf.while (%q = %p) : (!pto.ptr) -> !pto.ptr {{ scf.condition(%c) %q : !pto.ptr }} do {{\n"
        "^bb0(%z: !pto.ptr):\npto.vecscope { %x = pto.vlds %z[%i] : !pto.ptr -> !pto.vreg<64xf32> }\n"
        "scf.yield %z : !pto.ptr }",
        "!pto.ptr<f32, ub>",
    ),
)
def test_pointers(body: str, expected: str):
    assert type_of("%p", accepts(body)) == expected


def test_what_a_while_loop_passes_on_has_the_type_of_its_results():
    text = accepts(
        "func.func @f(%m: i64, %c: i1, %i: index) {\n%p = pto.castptr %m : i64 -> !pto.ptr\n"
        "%r = scf.while : () -> !pto.ptr { scf.condition(%c) %p : !pto.ptr } do { ^bb0(%q: !pto.ptr): scf.yield }\n"
        "pto.vecscope { %x = pto.vlds %r[%i] : !pto.ptr -> !pto.vreg<64xf32> }\nreturn\n}"
    )
    assert type_of("%p", text) == "!pto.ptr<f32, ub>"


def test_parameters():
    text = accepts(
        "func.func @f(%a: !pto.ptr, %b: !pto.ptr, %ub: !pto.ptr, %m: i64, %c: i1, %i: index) {\n"
        + COPY.format("%a", "%ub")
        + "%x = pto.load_scalar %b[%i] : !pto.ptr -> i16\n"
        "pto.vecscope { %y = pto.vlds %ub[%i] : !pto.ptr -> !pto.vreg<64xf32> }\nreturn\n}"
    )
    assert "@f(%a: !pto.ptr<f32, gm>, %b: !pto.ptr<i16, gm>, %ub: !pto.ptr<f32, ub>, " in text


def test_through_calls():
    load = "%x = pto.vlds %q[%j] : !pto.ptr -> !pto.vreg<64xi32>"
    call = "pto.vecscope { call @h(%p, %i) : (!pto.ptr, index) -> () }"
    text = accepts(
        f"func.func private @h(%q: !pto.ptr, %j: index) {{ {load}\nreturn }}\n"
        f"func.func @f(%m: i64, %i: index) {{\n{CAST}{call}\nreturn }}"
    )
    assert type_of("%p", text) == "!pto.ptr<i32, ub>"
    assert "@h(%q: !pto.ptr<i32, ub>, %j: index)" in text


@table(
    "body, expected",
    ('%q = pto.pset_b16 "PAT_ALL" : !pto.mask<G>', "!pto.mask<b16>"),
    (
        '%z = pto.pset_b16 "PAT_ALL" : !pto.mask<G>\n%q = pto.pnot %z, %z : !pto.mask<G>, !pto.mask<G> -> !pto.mask<G>',
        "!pto.mask<b16>",
    ),
    (
        '%q = pto.vcmp %v, %v, %k, "lt" : !pto.vreg<64xf32>, !pto.vreg<64xf32>, !pto.mask<G> -> !pto.mask<G>',
        "!pto.mask<b32>",
    ),
)
def test_masks(body: str, expected: str):
    assert type_of("%q", accepts(f"pto.vecscope {{\n{body}\n}}")) == expected


@table(
    "operands, instruction, granularity",
    ("%v: V<128xf16>", "pto.vsts %v, %p[%i], %q : V<128xf16>, P, G", "b16"),
    ("%v: V<128xf16>", 'pto.vsts %v, %p[%i], %q {dist = "PK_B16"} : V<128xf16>, P, G', "b16"),
    ("%v: V<128xf16>", 'pto.vsts %v, %p[%i], %q {dist = "PK_B32"} : V<128xf16>, P, G', "b32"),
    ("%v: V<256xui8>", 'pto.vsts %v, %p[%i], "PK4_B32", %q : V<256xui8>, P, G', "b32"),
    ("%v: V<32xi64>", 'pto.vsts %v, %p[%i], %q {dist = "PK_B64"} : V<32xi64>, P, G', "b32"),
    ("%o: V<64xi32>", "%r = pto.vgatherb %p, %o, %q : P, V<64xi32>, G -> V<128xf16>", "b32"),
    ("%o: V<128xi16>", "%r = pto.vgather2 %p, %o, %q : P, V<128xi16>, G -> V<128xi16>", "b16"),
    ("%v: V<256xi8>, %o: V<128xi16>", "pto.vscatter %v, %p, %o, %q : V<256xi8>, P, V<128xi16>, G", "b16"),
    ("%v: V<128xf16>", '%r = pto.vcvt %v, %q {part = "EVEN"} : V<128xf16>, G -> V<64xf32>', "b16"),
    ("%v: V<128xi16>", "%r = pto.vcadd %v, %q : V<128xi16>, G -> V<64xi32>", "b16"),
    ("%s: f16", "%r = pto.vdup %s, %q : f16, G -> V<128xf16>", "b16"),
    ("%b: i16", "%r = pto.vsldb %p, %b, %b, %q : P, i16, i16, G -> V<256xi8>", "b8"),
    ("%k: !pto.mask<b16>", "%r = pto.pand %q, %k, %q : G, !pto.mask<b16>, G -> G", "b16"),
    ("%k: !pto.mask<b8>", "%r, %t = pto.pintlv_b8 %q, %k : G, !pto.mask<b8> -> G, G", "b8"),
)
def test_a_mask_has_the_granularity_that_its_instruction_asks_for(operands: str, instruction: str, granularity: str):
    def kernel(mask: str) -> str:
        body = re.sub(r"\bG\b", mask, re.sub(r"\bP\b", pointer, instruction))
        arguments = f"%q: {mask}, %p: {pointer}, %i: index, {operands}"
        return f"func.func @f({arguments}) {{ pto.vecscope {{\n{body}\n}}\nreturn }}".replace("V<", "!pto.vreg<")

    registers = re.findall(r"V<\d+x(\w+)>", instruction)
    pointer = f"!pto.ptr<{'i8' if 'vscatter' in instruction else registers[-1] if registers else 'i8'}, ub>"
    inferred = accepts(kernel("!pto.mask<G>"))
    assert f"%q: !pto.mask<{granularity}>, " in inferred
    assert inferred == accepts(kernel(f"!pto.mask<{granularity}>"))


def test_a_repacked_mask_follows_its_uses_and_otherwise_its_source():
    store = "pto.vsts %v, %p[%i], %q : !pto.vreg<128xf16>, !pto.ptr<f16, ub>, !pto.mask<G>"
    kernel = (
        "func.func @f(%k: !pto.mask<b32>, %v: !pto.vreg<128xf16>, %p: !pto.ptr<f16, ub>, %i: index) {{\n"
        "pto.vecscope {{\n%q = {} : !pto.mask<b32> -> !pto.mask<G>\n{}\n}}\nreturn }}"
    )
    for repack in ("pto.pbitcast %k", 'pto.ppack %k, "LOWER"'):
        assert type_of("%q", accepts(kernel.format(repack, store))) == "!pto.mask<b16>"
        assert type_of("%q", accepts(kernel.format(repack, ""))) == "!pto.mask<b32>"


def test_masks_of_contradicting_uses():
    text = (
        "func.func @f(~%q: !pto.mask<G>, %v: !pto.vreg<128xf16>, %p: !pto.ptr<f16, ub>, %i: index) {{ pto.vecscope {{\n"
        "pto.vsts %v, %p[%i], %q : !pto.vreg<128xf16>, !pto.ptr<f16, ub>, !pto.mask<G>\n"
        "pto.vsts %v, %p[%i], %q{} : !pto.vreg<128xf16>, !pto.ptr<f16, ub>, !pto.mask<G>\n}}\nreturn }}"
    )
    accepts(text.format(' {dist = "PK_B16"}').replace("~", ""))
    rejects(
        text.format(' {dist = "PK_B32"}'),
        "the type cannot be worked out: it is used as !pto.mask<b16> (line 2) and as !pto.mask<b32> (line 3); "
        "write !pto.mask<b8|b16|b32>",
    )


@table(
    "instruction, element",
    ('pto.sprsts "AR", %p[%n] : !pto.ptr, i32', "i32"),
    ('%m = pto.plds %p[%i], "NORM" : !pto.ptr, index -> !pto.mask<b8>', "i8"),
    ("%x, %next = pto.vlds %p[%i] : !pto.ptr -> !pto.vreg<64xf32>, !pto.ptr", "f32"),
)
def test_pointers_in_scopes(instruction: str, element: str):
    kernel = f"func.func @f(%p: !pto.ptr, %i: index, %n: i32) {{ pto.vecscope {{\n{instruction}\n}}\nreturn }}"
    assert f"%p: !pto.ptr<{element}, ub>" in accepts(kernel)


def test_a_mask_parameter_follows_the_register_it_governs():
    text = accepts(
        "func.func @f(%v: !pto.vreg<128xf16>, %q: !pto.mask<G>) { pto.vecscope {\n"
        "%x = pto.vabs %v, %q : !pto.vreg<128xf16>, !pto.mask<G> -> !pto.vreg<128xf16> }\nreturn }"
    )
    assert "%q: !pto.mask<b16>" in text


def test_everything_open_is_reported():
    found = errors(CAST + "%q = pto.castptr %m : i64 -> !pto.ptr\n%z = arith.addi %n, %m : i32")
    assert [error.line for error in found] == [3, 4, 5]
