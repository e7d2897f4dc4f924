"""What is refused of the layout and the place of a tile."""

from language.view_kernel import twins, warns
from refusals.rule import rows

ALIGNED = "byte size to be 32-byte aligned, but got"


def outside(space: str, start: int, end: int, capacity: int, target: str = "a5") -> str:
    return f"the tile occupies {space}[{start}:{end}], but {space} of {target} has {capacity} bytes"


ROWS_AND_BOXES_ARE_WHOLE = rows(
    lambda type_, message: twins(f"%t = pto.alloc_tile : ~!pto.tile_buf<{type_}>", message)
)(f"""
vec, 16x«7|8»xf32 ⇒ expects row {ALIGNED} 28 bytes
vec, 16x«8|16»xf16 ⇒ expects row {ALIGNED} 16 bytes
vec, «7|8»x16xf32, blayout=col_major ⇒ expects column {ALIGNED} 28 bytes
bias, 1x«4|8»xf32 ⇒ expects row {ALIGNED} 16 bytes
vec, 16x«8|16»x!pto.f4E2M1x2 ⇒ expects row byte size to be 16-byte aligned, but got 8 bytes
mat, 16x«24|32»xf16, blayout=col_major, slayout=row_major
  ⇒ expects cols to be a multiple of the 16 columns of a box, but got 24
mat, «24|32»x16xf16, blayout=col_major, slayout=row_major
  ⇒ expects rows to be a multiple of the 16 rows of a box, but got 24
right, «24|32»x16xf32, slayout=col_major, fractal=1024
  ⇒ expects rows to be a multiple of the 16 rows of a box, but got 24
""")

TWO_SHAPES_ARE_ONLY_WARNED_OF = rows(
    lambda type_, message: warns(f"%t = pto.alloc_tile : ~!pto.tile_buf<{type_}>", message)
)(f"""
vec, 256x16xui8 ⇒ expects row {ALIGNED} 16 bytes
mat, 16x16xi8, blayout=col_major, slayout=row_major
  ⇒ expects cols to be a multiple of the 32 columns of a box, but got 16
""")

A_TILE_ENDS_WITHIN_ITS_MEMORY = rows(
    lambda address, type_, target, message: twins(
        f"%t = pto.alloc_tile addr = ~{address} : !pto.tile_buf<{type_}>", message, "out-of-bounds", target
    )
)(
    ("%«a258048|a4096»", "vec, 16x128xf32", "a5", outside("ub", 258048, 266240, 262144)),
    ("%«a249856|a65536»", "vec, 16x64xf32", "a2a3", outside("ub", 249856, 253952, 196608, "a2a3")),
    ("%«a65536|a4096»", "left, 16x16xf16, slayout=row_major", "a5", outside("l0a", 65536, 66048, 65536)),
    ("%«a4096|a512»", "bias, 1x8xf32", "a5", outside("bt", 4096, 4128, 4096)),
    ("%«a4096|a512»", "bias, 1x8xf32", "a2a3", outside("bt", 4096, 4128, 1024, "a2a3")),
    ("%a512", "scaling, 1x«256|128»xi64", "a2a3", outside("fb", 512, 2560, 2048, "a2a3")),
    ("%«a65536|a4096»", "right, 16x16xf16, slayout=col_major", "a2a3", outside("l0b", 65536, 66048, 65536, "a2a3")),
    ("%a65536", "acc, 128x«256|128»xf32", "a2a3", outside("l0c", 65536, 196608, 131072, "a2a3")),
    ("%a65536", "mat, 512x«512|256»xf16", "a5", outside("l1", 65536, 589824, 524288)),
)

SEVERAL_TILES_HAVE_WHOLE_ROWS_TOO = rows(twins)("""
%t = pto.alloc_multi_tile : ~!pto.multi_tile_buf<vec, 16x«7|8»xf32, count=2>
  ⇒ expects row byte size to be 32-byte aligned, but got 28 bytes
""")

ADDRESSES_ARE_ALIGNED = [
    *rows(twins, kind="misaligned")("""
%t = pto.alloc_tile addr = ~%«a48|a32» : !pto.tile_buf<vec, 16x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%d = pto.declare_tile -> !pto.tile_buf<vec, 16x64xf32>
%t = pto.tassign %d, ~%«a48|a32» : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%t = pto.alloc_tile addr = ~%«a48|a32» : !pto.tile_buf<mat, 16x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%d = pto.declare_tile -> !pto.tile_buf<mat, 16x64xf32>
%t = pto.tassign %d, ~%«a48|a32» : !pto.tile_buf<mat, 16x64xf32> -> !pto.tile_buf<mat, 16x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%t = pto.alloc_tile addr = ~%«a48|a32» : !pto.tile_buf<bias, 1x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%d = pto.declare_tile -> !pto.tile_buf<bias, 1x64xf32>
%t = pto.tassign %d, ~%«a48|a32» : !pto.tile_buf<bias, 1x64xf32> -> !pto.tile_buf<bias, 1x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%t = pto.alloc_tile addr = ~%«a48|a32» : !pto.tile_buf<scaling, 1x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%d = pto.declare_tile -> !pto.tile_buf<scaling, 1x64xf32>
%t = pto.tassign %d, ~%«a48|a32» : !pto.tile_buf<scaling, 1x64xf32> -> !pto.tile_buf<scaling, 1x64xf32>
  ⇒ addr must be aligned to 32 bytes for local tile memory space, got 48
%t = pto.alloc_tile addr = ~%«a544|a512» : !pto.tile_buf<left, 16x16xf16, slayout=row_major>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
%d = pto.declare_tile -> !pto.tile_buf<left, 16x16xf16, slayout=row_major>
%t = pto.tassign %d, ~%«a544|a512» : !pto.tile_buf<left, 16x16xf16, slayout=row_major> -> !pto.tile_buf<left,
    16x16xf16, slayout=row_major>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
%t = pto.alloc_tile addr = ~%«a544|a512» : !pto.tile_buf<right, 16x16xf16, slayout=col_major>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
%d = pto.declare_tile -> !pto.tile_buf<right, 16x16xf16, slayout=col_major>
%t = pto.tassign %d, ~%«a544|a512» : !pto.tile_buf<right, 16x16xf16, slayout=col_major> -> !pto.tile_buf<right,
    16x16xf16, slayout=col_major>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
%t = pto.alloc_tile addr = ~%«a544|a512» : !pto.tile_buf<acc, 16x16xf32>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
%d = pto.declare_tile -> !pto.tile_buf<acc, 16x16xf32>
%t = pto.tassign %d, ~%«a544|a512» : !pto.tile_buf<acc, 16x16xf32> -> !pto.tile_buf<acc, 16x16xf32>
  ⇒ addr must be aligned to 512 bytes for local tile memory space, got 544
"""),
    *rows(twins)("""
%t = pto.alloc_tile addr = ~%«am32|a32» : !pto.tile_buf<vec, 16x64xf32> ⇒ addr must be non-negative, got -32
%d = pto.declare_tile -> !pto.tile_buf<vec, 16x64xf32>
%t = pto.tassign %d, ~%«am32|a32» : !pto.tile_buf<vec, 16x64xf32> -> !pto.tile_buf<vec, 16x64xf32>
  ⇒ addr must be non-negative, got -32
"""),
]

RULES = [
    *SEVERAL_TILES_HAVE_WHOLE_ROWS_TOO,
    *ADDRESSES_ARE_ALIGNED,
    *ROWS_AND_BOXES_ARE_WHOLE,
    *TWO_SHAPES_ARE_ONLY_WARNED_OF,
    *A_TILE_ENDS_WITHIN_ITS_MEMORY,
]
