"""What is refused of pointers and scalar accesses."""

from language.source import rejects
from refusals.rule import rows

CASTS_THAT_ARE_NOT = rows(
    lambda cast, message: rejects(f"%p = pto.castptr {cast}", message),
    (
        "~%ub : !pto.ptr<f32, ub> -> !pto.ptr<f32, gm>",
        "ptr-to-ptr cast must stay within the same PTO memory space, but !pto.ptr<f32, ub> becomes !pto.ptr<f32, gm>",
    ),
    ("~%m : i64 -> i64", "pto.castptr needs a pointer on one side; i64 becomes i64"),
    ("~%f : f32 -> !pto.ptr<f32, ub>", "a pointer is cast from and to integers, not f32"),
    ("~%ub : !pto.ptr<f32, ub> -> f32", "a pointer is cast from and to integers, not f32"),
)

TYPES_THAT_DO_NOT_EXIST = rows(
    lambda type_, message: rejects(f"%p = pto.castptr %m : i64 -> {type_}", message, kind="syntax"),
    ("!pto.ptr<~index, ub>", "a pointer cannot have element type index"),
    ("!pto.ptr<~i1, ub>", "a pointer cannot have element type i1"),
    (
        "!pto.ptr<f32, ~l2>",
        "unknown memory space 'l2'; "
        "known: gm, l1, mat, l0a, left, l0b, right, l0c, acc, ub, vec, bt, bias, fb, scaling",
    ),
    ("!pto.vreg<~64xindex>", "a vector register cannot hold index"),
    ("~!pto.tiles<f32>", "unknown type '!pto.tiles'; did you mean '!pto.tile'?"),
    ("~!pto.vregs<64xf32>", "unknown type '!pto.vregs'; did you mean '!pto.vreg'?"),
)

ACCESSES_THAT_ARE_NOT = rows(
    rejects,
    (
        "%x = pto.load_scalar %ub[%i] : !pto.ptr<f32, ub> -> ~i32",
        "pto.load_scalar from !pto.ptr<f32, ub> gives f32, not i32",
    ),
    (
        "pto.store_scalar ~%n, %ub[%i] : !pto.ptr<f32, ub>, i32",
        "pto.store_scalar to !pto.ptr<f32, ub> takes f32, not i32",
    ),
    ("%x = pto.load_scalar ~%l1[%i] : !pto.ptr<f32, l1> -> f32", "pointer must point to gm or ub, not l1"),
    ("pto.store_scalar %f, ~%l1[%i] : !pto.ptr<f32, l1>, f32", "pointer must point to gm or ub, not l1"),
    ("%x = pto.load_scalar %ub[~%n] : !pto.ptr<f32, ub> -> f32", "offset must be index, not i32"),
    ("%x = pto.load_scalar ~%m[%i] : i64 -> f32", "pointer must be a pointer, not i64"),
)

LISTS_THAT_ARE_NOT = rows(
    rejects,
    (
        "%x = pto.load_scalar %ub[%i] : ~!pto.ptr<f32, gm> -> f32",
        "pointer has type !pto.ptr<f32, ub>, but the type list says !pto.ptr<f32, gm>",
    ),
    ("pto.store_scalar %f, %ub[%i] : !pto.ptr<f32, ub>, ~f16", "value has type f32, but the type list says f16"),
    (
        "pto.vecscope { pto.print ~%v : !pto.vreg<64xf32> }",
        "pto.print shows scalars and pointers, not !pto.vreg<64xf32>",
    ),
)

RULES = [*CASTS_THAT_ARE_NOT, *TYPES_THAT_DO_NOT_EXIST, *ACCESSES_THAT_ARE_NOT, *LISTS_THAT_ARE_NOT]
