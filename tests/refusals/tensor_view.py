"""What is refused of views of tensors."""

from language.view_kernel import rejects, twins
from refusals.rule import rows

MAKE = "pto.make_tensor_view %p, shape = [%m, %n], strides = [%n, %c1]"
PART = "%u = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n]"


def partition(offsets: str, sizes: str, result: str = "?x?") -> str:
    type_ = f"!pto.partition_tensor_view<{result}xf32>"
    return f"%u = pto.partition_view %v, offsets = [{offsets}], sizes = [{sizes}] : TV -> {type_}"


MAKING_A_VIEW = rows(twins)(f"""
%u = {MAKE} : ~!pto.«partition_|»tensor_view<?x?xf32>
  ⇒ result must be !pto.tensor_view, not !pto.partition_tensor_view<?x?xf32>
%u = pto.make_tensor_view %p, shape = [%m, %n«, ~%n|»], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  ⇒ expects 2 shape, one for each dimension of the view, but got 3
%u = ~pto.make_tensor_view %p, shape = [%m, %n], strides = [%n«|, %c1»] : !pto.tensor_view<?x?xf32>
  ⇒ expects 2 strides, one for each dimension of the view, but got 1
%u = pto.make_tensor_view ~%«w|p», shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  ⇒ pointer must be a pointer, not i32
%q = pto.inttoptr %a : i64 -> !pto.ptr<f32, gm>
%u = pto.make_tensor_view ~%«q|p», shape = [%m, %n], strides = [%n, %c1] : !pto.tensor_view<?x?xf32>
  ⇒ a pointer made by pto.inttoptr may only be loaded from and stored to by the scalar unit, not used by
    pto.make_tensor_view
""")

PARTS_AND_QUESTIONS = rows(twins)(f"""
{partition("%i, %j", "%m, ~%«c65|c64»")} ⇒ sizes[1] is 65, but the view has 64 elements there
{partition("%i, %c1", "%m, ~%«c64|c63»")} ⇒ offsets[1] is 1 and sizes[1] 64, but the view has 64 elements there
{partition("%i, %j", "~%«c8|c16», %n", "16x?")} ⇒ sizes[0] is 8, but the result type says 16
{partition("%i, %j«, ~%j|»", "%m, %n")} ⇒ expects 2 offsets, one for each dimension of the view, but got 3
{partition("%i, %j", "%m«|, %n»").replace("pto.part", "~pto.part", 1)}
  ⇒ expects 2 sizes, one for each dimension of the view, but got 1
{PART} : TV -> ~!pto.partition_tensor_view<?«|x?»xf32> ⇒ expects a partition of rank 2, not 1
{PART} : TV -> ~«TV|!pto.partition_tensor_view<?x?xf32>» ⇒ result must be !pto.partition_tensor_view, not TV
%u = pto.partition_view %v, offsets = [%i, %j], sizes = [%m, %n] : ~!pto.tensor_view<?x«?|64»xf32>
  ⇒ source has type TV, but the type list says !pto.tensor_view<?x?xf32>
""")

A_PART_WITHOUT_A_VIEW_HAS_NO_TYPE_TO_INFER = rows(rejects, kind="syntax")("""
%u = pto.partition_view %p, offsets = [%i], sizes = [%m] : !pto.ptr<f32, gm>~
  ⇒ expected the result type of pto.partition_view
""")

RULES = [*A_PART_WITHOUT_A_VIEW_HAS_NO_TYPE_TO_INFER, *MAKING_A_VIEW, *PARTS_AND_QUESTIONS]
