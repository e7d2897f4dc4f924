"""Gathers and scatters between global memory and tiles: what is rejected and where the diagnostic points."""

from language.move_kernel import accepts, only, rejects
from ptosim.effects.names import Pipe
from refusals.tile_gather import GATHER, SCATTER, TABLE
from tables import table


@table(
    "body, target, pipe",
    (GATHER.format(TABLE, "ND<1x16xi32>", "ND<16x64xf32>", "row"), "a5", Pipe.V),
    (GATHER.format(TABLE, "DN<16x1xi32>", "ND<16x64xf32>", "row"), "a2a3", Pipe.MTE2),
    (GATHER.format(TABLE, "ND<16x64xi32>", "ND<16x64xf32>", "elem"), "a5", Pipe.V),
    (GATHER.format("PV<128x64xf16>", "PV<1x16xi32>", "MAT<16x64xf16>", "row"), "a5", Pipe.MTE2),
    (
        "pto.mgather ins(%mem, %idx, %w : PV<128x64xf16>, PV<16x64xi32>, PV<16x64xf16>) outs(%d : MAT<16x64xf16>)"
        " {coalesce = #pto<coalesce elem>, gatherOob = #pto<gather_oob clamp>}",
        "a5",
        Pipe.MTE2,
    ),
    (SCATTER.format("ND<16x64xf32>", "ND<1x16xi32>", TABLE), "a5", Pipe.V),
    (SCATTER.format("ND<16x64xf32>", "ND<16x64xi32>", TABLE), "a2a3", Pipe.MTE3),
    (
        SCATTER.format("ND<16x64xf32>", "ND<1x16xi32>", TABLE)
        + " {coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op add>,"
        " scatterOob = #pto<scatter_oob skip>, scatterConflict = #pto<scatter_conflict last>}",
        "a5",
        Pipe.V,
    ),
)
def test_gathers_and_scatters(body: str, target: str, pipe: Pipe) -> None:
    accepts(body, target)
    assert only(body, target).pipe(target) is pipe


def test_a_gather_says_what_an_index_is_for() -> None:
    body = "~pto.mgather ins(%mem, %idx : PV<128x64xf32>, ND<1x16xi32>) outs(%d : ND<16x64xf32>)"
    rejects(body, "pto.mgather needs the attribute 'coalesce'", sort="syntax")
    accepts(body[1:] + " {coalesce = #pto<coalesce row>}")
