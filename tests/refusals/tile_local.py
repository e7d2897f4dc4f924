"""What is refused of local arrays and structures."""

from language.view_kernel import twins
from refusals.rule import rows

ARRAY = "!pto.local_array<2x3xi32>"
STRUCT = "!pto.struct<i32, !pto.struct<f32, index>>"
DECLARED = f"%s = pto.declare_struct -> {STRUCT}\n%l = pto.declare_local_array -> {ARRAY}\n"

RULES = rows(lambda text, message: twins(DECLARED + text, message))(f"""
%y = pto.local_array_get ~%l[%i«|, %j»] : {ARRAY} -> i32 ⇒ expects 2 indices, one for each dimension of {ARRAY}, not 1
pto.local_array_set %l[%i, ~%«cm1|c2»], %x : {ARRAY}, i32 ⇒ indices[1] is -1; it must be 0..2
%y = pto.local_array_get ~%«v|l»[%i, %j] : «TV|{ARRAY}» -> i32 ⇒ array must be !pto.local_array, not TV
%y = pto.struct_get %s[~«2|0»] : {STRUCT} -> i32 ⇒ the path has 2, but {STRUCT} has fields 0..1
%y = pto.struct_get %s[~«-1|0»] : {STRUCT} -> i32 ⇒ the path has -1, but {STRUCT} has fields 0..1
%y = pto.struct_get %s[~0«, 0|»] : {STRUCT} -> i32 ⇒ the path leads into i32, which has no fields
%y = pto.struct_get %s[~1«|, 0»] : {STRUCT} -> f32 ⇒ the path ends at !pto.struct<f32, index>; it must end at a scalar
pto.struct_set %s[1, 0], ~%«x|f» : {STRUCT}, «i32|f32» ⇒ value must be f32, not i32
%y = pto.struct_get ~%«l|s»[0] : «{ARRAY}|{STRUCT}» -> i32 ⇒ struct must be !pto.struct, not {ARRAY}
%d = pto.declare_struct -> ~!pto.«local_array<2xi32>|struct<i32>»
  ⇒ result must be !pto.struct, not !pto.local_array<2xi32>
""")

NUMBERS_WITHOUT_END = rows(lambda text, message: twins(DECLARED + text, message, kind="syntax"))(f"""
%y = pto.struct_get %s[~«18446744073709551616|0»] : {STRUCT} -> i32 ⇒ 18446744073709551616 does not fit into 64 bits
""")

RULES = [*RULES, *NUMBERS_WITHOUT_END]
