"""Kernels around one tile operation: every byte of every tile goes in from an array and comes out again.

A tile is filled and read back through a second tile of plain bytes at the same address, so that a test sees what an
operation writes and what it leaves alone, whatever layout and valid region it has. Images of tiles are made and read
here from the layout table of the instruction set, without the program's help.

    run("pto.tadd ins(%a, %b : A, B) outs(%d : D)", a=Given("16x64xf32", x), b=Given("16x64xf32", y), d=Given(...))
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

import ptosim

DTYPES: dict[str, Any] = {
    **{f"{sign}i{bits}": f"i{bits // 8}" for sign in ("", "s") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "f16": "f2",
    "f32": "f4",
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    **dict.fromkeys(("!pto.hif8", "!pto.f8E8M0", "!pto.f4E1M2x2", "!pto.f4E2M1x2"), "u1"),
}
SPACE = 0x1000
"""Tiles of a test begin at multiples of this."""


def dtype_of(element: str) -> np.dtype[Any]:
    return np.dtype(DTYPES[element])


@dataclass
class Given:
    """A tile of a test: its short type without the location, and what it holds (a pattern where nothing is given).

    The contents are an array of the physical shape, or of the valid region: the rest then holds the pattern.
    """

    type: str
    holds: np.ndarray[Any, Any] | None = None
    valid: tuple[int, int] | None = None
    """The values of `valid_row` and `valid_col` of a type whose valid region is `?x?`; only the run knows them."""
    loc: str = "vec"
    address: int | None = None
    fields: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        shape, *fields = re.split(r"\s*,\s*", self.type)
        rows, cols, self.element = shape.split("x", 2)
        self.rows, self.cols = int(rows), int(cols)
        self.fields = dict(one.split("=") for one in fields)

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtype_of(self.element)

    @property
    def region(self) -> tuple[int, int]:
        """The valid rows and columns."""
        if self.valid is not None:
            return self.valid
        if "valid" in self.fields:
            rows, cols = self.fields["valid"].split("x")
            return int(rows), int(cols)
        return self.rows, self.cols

    @property
    def bytes(self) -> int:
        return int(self.offsets().max() + 1) * self.dtype.itemsize if self.rows * self.cols else 0

    @property
    def room(self) -> int:
        """Bytes of its image: whole granules."""
        return -(-self.bytes // 32) * 32

    def offsets(self) -> np.ndarray[Any, Any]:
        """The number of each element in memory, by row and column."""
        r, c = np.indices((self.rows, self.cols))
        blayout, slayout = self.fields.get("blayout", "row_major"), self.fields.get("slayout", "none_box")
        extra = int(self.fields.get("compact", 0) == "2")
        if slayout == "none_box" or (self.rows == 1 and self.loc == "vec"):
            if slayout != "none_box" or blayout == "row_major":
                return r * (self.cols + extra) + c
            return c * (self.rows + extra) + r
        ir, ic = self.box()
        outer_r, inner_r, outer_c, inner_c = r // ir, r % ir, c // ic, c % ic
        inside = inner_r * ic + inner_c if slayout == "row_major" else inner_c * ir + inner_r
        if blayout == "col_major":
            return outer_c * (self.rows + extra) * ic + outer_r * ir * ic + inside
        return outer_r * self.cols * ir + outer_c * ir * ic + inside

    def box(self) -> tuple[int, int]:
        fractal, by_rows = int(self.fields.get("fractal", 512)), self.fields["slayout"] == "row_major"
        if self.loc == "acc" or fractal == 1024:
            return 16, 16
        minor = 2 if fractal == 32 else 32 // self.dtype.itemsize
        return (16, minor) if by_rows else (minor, 16)

    def image(self) -> np.ndarray[Any, Any]:
        """The bytes of the tile in memory."""
        image = (np.arange(self.room) * 37 + 11).astype(np.uint8) & 0x3F  # small finite numbers in every type
        if self.holds is None:
            return image
        holds = np.ascontiguousarray(self.holds, self.dtype)
        rows, cols = holds.shape
        elements = image.view(np.dtype(f"V{self.dtype.itemsize}"))
        elements[self.offsets()[:rows, :cols]] = holds.view(elements.dtype)
        return image

    def read(self, image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The elements of an image, by row and column."""
        return image.view(np.dtype(f"V{self.dtype.itemsize}"))[self.offsets()].view(self.dtype)


@dataclass(frozen=True)
class Outcome:
    """What a tile holds afterwards, and what it held before."""

    given: Given
    image: np.ndarray[Any, Any]

    @property
    def all(self) -> np.ndarray[Any, Any]:
        """Every element of the physical tile."""
        return self.given.read(self.image)

    @property
    def valid(self) -> np.ndarray[Any, Any]:
        rows, cols = self.given.region
        return self.all[:rows, :cols]

    def unchanged_outside(self) -> bool:
        """Whether every byte outside the valid region is what it was."""
        size = self.given.dtype.itemsize
        inside = np.zeros(self.given.room, bool)
        rows, cols = self.given.region
        starts = (self.given.offsets()[:rows, :cols] * size).ravel()
        for byte in range(size):
            inside[starts + byte] = True
        return bool(np.array_equal(self.image[~inside], self.given.image()[~inside]))


@dataclass(frozen=True)
class Stack:
    """Tiles of one type that are filled from one array, image by image. In memory they begin at multiples of SPACE, and
    what lies between them is as undefined as it is between other tiles."""

    names: Sequence[str]
    tile: Given

    @property
    def name(self) -> str:
        return self.names[0]

    @property
    def pitch(self) -> int:
        return -(-self.tile.room // SPACE) * SPACE

    @property
    def raw(self) -> str:
        count, room = len(self.names), self.tile.room
        kind = f"1x{room}xui8" if count == 1 else f"{count}x{self.pitch}xui8, valid={count}x{room}"
        return f"!pto.tile_buf<vec, {kind}>"

    @property
    def part(self) -> str:
        return f"!pto.partition_tensor_view<{len(self.names)}x{self.tile.room}xui8>"

    @property
    def extents(self) -> list[str]:
        """The parameters that say which regions are valid: rows and columns of each tile."""
        names = self.names if self.tile.valid is not None else ()
        return [f"%{word}_{name}" for name in names for word in ("row", "col")]

    def filled(self, at: int) -> list[str]:
        """The lines that allocate the tiles from this address on, and fill them."""
        name = self.name
        lines = [
            f"%at_{name} = arith.constant {at} : i64",
            f"%raw_{name} = pto.alloc_tile addr = %at_{name} : {self.raw}",
            f"%k_{name} = arith.constant {len(self.names)} : index",
            f"%n_{name} = arith.constant {self.tile.room} : index",
            f"%view_{name} = pto.make_tensor_view %{name}_gm, shape = [%k_{name}, %n_{name}],"
            f" strides = [%n_{name}, %c1] : !pto.tensor_view<?x?xui8>",
            f"%part_{name} = pto.partition_view %view_{name}, offsets = [%c0, %c0], sizes = [%k_{name}, %n_{name}]"
            f" : !pto.tensor_view<?x?xui8> -> {self.part}",
            f"pto.tload ins(%part_{name} : {self.part}) outs(%raw_{name} : {self.raw})",
        ]
        for number, one in enumerate(self.names):
            lines += [f"%at_{one} = arith.constant {at + number * self.pitch} : i64"] if number else []
            valid = f" valid_row = %row_{one} valid_col = %col_{one}" if self.extents else ""
            lines.append(f"%{one} = pto.alloc_tile addr = %at_{one}{valid} : {_type(self.tile)}")
        return lines

    def stored(self) -> str:
        return f"pto.tstore ins(%raw_{self.name} : {self.raw}) outs(%part_{self.name} : {self.part})"


def text(
    operation: str,
    tiles: Mapping[str, Given],
    target: str = "a5",
    scalars: str = "",
    before: str = "",
    stacks: Sequence[Stack] = (),
) -> str:
    """A kernel that fills the tiles, does the operation and stores them all again. Its parameters are an image for each
    tile, or the images for each stack, the scalars, and valid rows and columns of tiles that have them from outside."""
    stacks = stacks or [Stack([name], tile) for name, tile in tiles.items()]
    lines, address = list[str](), 0
    for stack in stacks:
        at = address if stack.tile.address is None else stack.tile.address
        end = at + stack.pitch * (len(stack.names) - 1) + stack.tile.room
        address = max(address, -(-end // SPACE) * SPACE)
        lines += stack.filled(at)
    lines += ["pto.barrier <PIPE_ALL>", *before.splitlines()]
    lines += [re.sub(r"\b[A-Z]\b", lambda found: _type(tiles[found[0].lower()]), operation), "pto.barrier <PIPE_ALL>"]
    lines += [*(stack.stored() for stack in stacks), "pto.barrier <PIPE_ALL>"]
    extents = [f"{extent}: index" for stack in stacks for extent in stack.extents]
    images = [f"%{stack.name}_gm: !pto.ptr<ui8, gm>" for stack in stacks]
    parameters = ", ".join([*images, *filter(None, [scalars]), *extents])
    body = "\n    ".join(["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", *lines, "return"])
    return (
        f'module attributes {{pto.target_arch = "{target}"}} {{\n'
        f"  func.func @k({parameters}) attributes {{pto.kernel}} {{\n    {body}\n  }}\n}}\n"
    )


def _type(tile: Given) -> str:
    fields = {**tile.fields, **({"valid": "?x?"} if tile.valid is not None else {})}
    shape = f"{tile.rows}x{tile.cols}x{tile.element}"
    return f"!pto.tile_buf<{', '.join([tile.loc, shape, *(f'{name}={value}' for name, value in fields.items())])}>"


def run(
    operation: str,
    *values: Any,
    target: str = "a5",
    scalars: str = "",
    before: str = "",
    check: bool = True,
    again: bool = False,
    stacked: bool = False,
    **tiles: Given,
) -> dict[str, Outcome]:
    """Run one operation on both engines, which must agree to the byte; gives what every tile holds afterwards.

    A capital letter in the operation stands for the type of the tile with that small letter as its name. `values` are
    the arguments of the parameters that `scalars` declares. With `again` the text of what runs is loaded as well: it
    has no warnings and gives the same bytes. With `stacked` tiles of one type are filled together.
    """
    stacks = _stacks(tiles) if stacked else [Stack([name], tile) for name, tile in tiles.items()]
    module = ptosim.load(text(operation, tiles, target, scalars, before, stacks), sync="written")
    values = (*values, *(extent for stack in stacks for extent in (stack.tile.valid or ()) * len(stack.names)))

    def images() -> list[np.ndarray[Any, Any]]:
        return [np.stack([tiles[name].image() for name in stack.names]) for stack in stacks]

    def ran(kernel: ptosim.Kernel, engine: str) -> dict[str, np.ndarray[Any, Any]]:
        arrays = images()
        kernel(*arrays, *values, engine=engine)
        each = zip(stacks, arrays, strict=True)
        return {name: image for stack, rows in each for name, image in zip(stack.names, rows, strict=True)}

    kernel = module.kernel()
    native, reference = ran(kernel, "native"), ran(kernel, "reference")
    for name in tiles:
        assert np.array_equal(native[name], reference[name]), f"engines differ in {name}"
    if again:
        lowered = module.lowered()
        assert not lowered.warnings, lowered.warnings
        found = ran(lowered.kernel(), "reference")
        for name in tiles:
            assert np.array_equal(native[name], found[name]), f"the lowered text differs in {name}"
    if check:
        report = ptosim.check(kernel, *images(), *values)
        assert report.ok, report
    return {name: Outcome(tile, native[name]) for name, tile in tiles.items()}


def _stacks(tiles: Mapping[str, Given]) -> list[Stack]:
    """All tiles, those of one type and valid region together unless they say where they lie."""
    alike: dict[Any, list[str]] = {}
    for name, tile in tiles.items():
        alike.setdefault((_type(tile), tile.valid) if tile.address is None else name, []).append(name)
    return [Stack(names, tiles[names[0]]) for names in alike.values()]


def run_each(
    operations: Mapping[str, str],
    *values: Any,
    results: str = "d",
    target: str = "a5",
    scalars: str = "",
    before: str = "",
    again: bool = False,
    **tiles: Given,
) -> dict[str, dict[str, Outcome]]:
    """Run operations one after the other in one kernel, each with tiles of its own for its results (those that it has
    of these letters); gives what they hold afterwards, by operation. Nothing happens to the other tiles, which all
    share.
    """
    shared = {name: tile for name, tile in tiles.items() if name not in results}
    lines, given, own = list[str](), dict(shared), dict[str, dict[str, str]]()
    for number, (name, operation) in enumerate(operations.items()):
        suffix = f"{number}_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"  # messages show it
        own[name] = {letter: f"{letter}{suffix}" for letter in re.findall(rf"%([{results}])\b", operation)}
        given |= {one: tiles[letter] for letter, one in own[name].items()}
        typed = re.sub(rf"\b[{results.upper()}]\b", lambda found: _type(tiles[found[0].lower()]), operation)
        names = "|".join([*results, *re.findall(r"^%(\w+) = ", operation, re.MULTILINE)])
        lines.append(re.sub(rf"%({names})\b", lambda found, suffix=suffix: found[0] + suffix, typed))
    got = run(
        "\n".join(lines), *values, target=target, scalars=scalars, before=before, again=again, stacked=True, **given
    )
    for name, tile in shared.items():
        assert np.array_equal(got[name].image, tile.image()), f"{name} is changed by one of {', '.join(operations)}"
    return {name: {letter: got[one] for letter, one in letters.items()} for name, letters in own.items()}
