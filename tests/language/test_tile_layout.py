"""Where a tile lies: whole rows and boxes, aligned addresses, the end of the memory."""

from language.view_kernel import accepts, kernel, rejects, warns
from refusals.tile_layout import outside
from tables import table

SEVERAL = "!pto.multi_tile_buf<!pto.tile_buf<vec, 16x64xf32>, count=2>"

# --- the layout of an allocation --------------------------------------------------------------------------------------


@table(
    "type_",
    "vec, 16x8xf32",
    "vec, 8x1xf32, blayout=col_major",
    "vec, 16x16x!pto.f4E2M1x2",
    "mat, 16x32xf16, blayout=col_major, slayout=row_major",
    "vec, 24x16xf16, blayout=col_major, slayout=row_major",
    "mat, 1x16xf16, blayout=col_major, slayout=row_major",
    "scaling, 3x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32",
    "right, 8x16xf32, slayout=col_major",
    "acc, 16x8xf32, blayout=col_major, slayout=row_major",
)
def test_whole_rows_and_boxes(type_: str):
    accepts(f"%t = pto.alloc_tile : !pto.tile_buf<{type_}>")


# --- addresses --------------------------------------------------------------------------------------------------------


def aligned(alignment: int, found: int) -> str:
    return f"addr must be aligned to {alignment} bytes for local tile memory space, got {found}"


@table(
    "address, type_",
    ("%a32", "!pto.tile_buf<vec, 16x64xf32>"),
    ("%a544", "!pto.tile_buf<mat, 16x64xf32>"),
    ("%a512", "!pto.tile_buf<left, 16x16xf16, slayout=row_major>"),
    ("%a", "!pto.tile_buf<acc, 16x16xf32>"),
)
def test_aligned_addresses(address: str, type_: str):
    accepts(f"%t = pto.alloc_tile addr = {address} : {type_}")


@table(
    "address, type_, target",
    ("%a65536", "acc, 128x128xf32", "a2a3"),
    ("%a65536", "acc, 256x192xf32", "a5"),
    ("%a0", "bias, 1x1024xf32", "a5"),
    ("%a0", "bias, 1x256xf32", "a2a3"),
    ("%a0", "left, 128x256xf16, slayout=row_major", "a2a3"),
    ("%a0", "mat, 512x512xf16", "a5"),
)
def test_a_tile_may_fill_its_memory(address: str, type_: str, target: str):
    accepts(f"%t = pto.alloc_tile addr = {address} : !pto.tile_buf<{type_}>", target)


def test_every_slot_ends_within_the_memory():
    """Slots lie at multiples of the size of a tile, rounded up to the alignment of addresses: 288 bytes to 512."""
    slots = "!pto.multi_tile_buf<acc, 1x{}xf32, count=16>"
    message = outside("l0c", 258048, 258048 + 15 * 512 + 288, 262144)
    rejects(f"%t = pto.alloc_multi_tile addr = ~%a258048 : {slots.format(72)}", message, "out-of-bounds")
    accepts(f"%t = pto.alloc_multi_tile addr = %a253952 : {slots.format(72)}")


def test_the_end_of_ub_is_warned_of():
    text = "%t = pto.alloc_tile addr = ~%a253952 : TB"
    warns(text, "the tile reaches into the last 8192 bytes of ub, which the official compiler keeps free")
    accepts("%t = pto.alloc_tile addr = %a249856 : TB")


def test_either_all_tiles_have_addresses_or_none():
    """It is said once, at those of which there are fewer."""
    first = kernel("@@").split("@@")[0].count("\n") + 1
    give = "give one to all or to none"
    placed, open_ = "pto.alloc_tile addr = %a : TB", "pto.alloc_tile : TB"
    rejects(f"%t = ~{placed}\n%u = {open_}", f"1 of 2 tiles has an address (line {first}): {give}")
    text = f"%t = {placed}\n%u = ~pto.alloc_multi_tile : {SEVERAL}\n%z = {placed}"
    rejects(text, f"1 of 3 tiles has no address (line {first + 1}): {give}")
    text = "\n".join(f"%t{each} = {'~' * (each == 0)}{placed}\n%u{each} = {open_}" for each in range(5))
    lines = f"lines {first}, {first + 2}, {first + 4} and 2 more"
    rejects(text, f"5 of 10 tiles have an address ({lines}): {give}")
    accepts(f"%t = pto.alloc_tile addr = %a : TB\n%u = pto.alloc_multi_tile addr = %a : {SEVERAL}")
