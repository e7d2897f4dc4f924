"""What is refused of event ids and syncall."""

from language.move_kernel import twins
from refusals.rule import rows

IDS = "%ids = pto.declare_eventid_array -> !pto.eventid_array<2>\n%k = arith.constant {} : index\n"
GET = "%x = pto.tgetval ins(%t, %i : {}, {}) outs : {}"
SYNCALL = "pto.syncall({}) mode = #pto.sync_all_mode<{}>, core_type = #pto.sync_core_type<{}>"

WHAT_A_VIEW_MAY_NOT_BE = rows(twins)(f"""
{SYNCALL.format("«~%ws : !pto.ptr<i32, gm>|»", "hard", "mix")} ⇒ hard pto.syncall has no operands
{SYNCALL.format("~%ws : PV<«15|16»xi32>", "soft", "mix")}
  ⇒ workspace has 15 elements; soft pto.syncall needs at least 16
{SYNCALL.format("~%ws : PV<16x«f|i»32>", "soft", "mix")} ⇒ workspace must point to i32, not f32
{SYNCALL.format("~%ws : «ND<1x16xi32>|PV<16xi32>»", "soft", "mix")}
  ⇒ workspace must be a pointer to gm or a view of it, not !pto.tile_buf<vec, 1x16xi32>
{SYNCALL.format("%ws, ~%n : PV<16xi32>, i«64|32»", "soft", "mix")} ⇒ used must be i32, not i64
pto.cmo.cacheinvalid ~%w single_cache_line : «ND|PV»<16x64xf32>
  ⇒ address must be a pointer to gm or a view of it, not !pto.tile_buf<vec, 16x64xf32>
""")

THERE_ARE_NO_VALUES_FOR_EVENTS = rows(twins)("""
pto.tsync ~%e : «i32|ND<16x64xf32>» ⇒ pto.tsync expects tiles[0] to be a tile or a partition view, not i32
""")

RULES = [
    *THERE_ARE_NO_VALUES_FOR_EVENTS,
    *WHAT_A_VIEW_MAY_NOT_BE,
]
