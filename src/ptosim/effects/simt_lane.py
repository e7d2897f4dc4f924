"""Queries, votes, shuffles and reductions of workitems in a warp."""

from ptosim.effects.names import Pipe
from ptosim.effects.record import Effects, Taint, table
from ptosim.effects.simt import WORKITEM

_AXES = " ".join(f"get_{what}_{axis}" for what in ("tid", "block_dim", "grid_dim", "block_idx") for axis in "xyz")
_MASKS = " ".join(f"get_lanemask_{which}" for which in ("eq", "lt", "le", "gt", "ge"))
_QUERIES = f"{_AXES} {_MASKS} get_veccoreid get_laneid get_clock32 get_clock64"
_VOTES = "vote_all vote_any vote_uni vote_ballot"
_SHUFFLES = "shuffle_idx shuffle_up shuffle_down shuffle_bfly"
_REDUCTIONS = "redux_add redux_max redux_min"

EFFECTS: dict[str, Effects] = table(Pipe.S, Taint.NONE, {WORKITEM: _QUERIES}) | table(
    Pipe.S, Taint.CROSSING, {WORKITEM: f"{_VOTES} {_SHUFFLES} {_REDUCTIONS}"}
)
