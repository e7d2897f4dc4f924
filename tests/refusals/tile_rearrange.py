"""What is refused of rearranging tiles."""

from language.move_kernel import twins
from refusals.rule import rows

PAD = "pto.tfillpad ins(%a : {}) outs(%d : {})"
CONCAT = "pto.tconcat ins(%a, %b : {}, {}) outs(%d : {})"

WHAT_REARRANGING_MAY_NOT_BE = rows(twins)(f"""
{PAD.format("ND<16x64xf32>", "~ND<16x64xf32«|, pad=1»>")} ⇒ [a5] dst has no pad value: pad=0
{PAD.format("ND<16x64xf32>", "~ND<16x«32|64»xf32, pad=1>")}
  ⇒ [a5] pto.tfillpad expects dst to be at least 16x64 like src, not 16x32
{PAD.format("MAT<16x64xf32, valid=15x64>", "~MAT<16x64xf32, valid=1«6|5»x64>")}
  ⇒ [a5] pto.tfillpad expects dst to have the valid shape of src, 15x64, not 16x64
{PAD.format("MAT<16x64xf32>", "~MAT<«32|16»x64xf32, valid=16x64>")}
  ⇒ [a5] pto.tfillpad expects dst to have the shape of src, 16x64, not 32x64
{PAD.format("MAT<16x64xf32>", "~MAT<16x64xf32«, pad=1|»>")} ⇒ [a5] pto.tfillpad expects dst with pad=0 like src, not 1
{PAD.format("ND<16x64xf32>", "ND<16x64xf32, pad=1>")} {{«mode|note» = ~"expand"}}
  ⇒ [a5] pto.tfillpad has no mode: the tiles say which part it fills
{PAD.format("ND<16x64xf32>", "ND<16x64xf32, pad=1>")} {{«padValue = ~#pto.pad_value<max>|»}}
  ⇒ [a5] padValue is for tiles in mat; in vec the type of dst has the pad
{CONCAT.format("ND<16x32xf32>", "ND<16x32xf32>", "~ND<16x«56|64»xf32>")}
  ⇒ [a5] pto.tconcat expects dst to have room for 32 + 32 valid columns, not for 56
""")

RULES = [*WHAT_REARRANGING_MAY_NOT_BE]
