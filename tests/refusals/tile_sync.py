"""What is refused of event ids and syncall."""

from language.move_kernel import twins
from refusals.rule import rows

IDS = "%ids = pto.declare_eventid_array -> !pto.eventid_array<2>\n%k = arith.constant {} : index\n"
GET = "%x = pto.tgetval ins(%t, %i : {}, {}) outs : {}"
SYNCALL = "pto.syncall({}) mode = #pto.sync_all_mode<{}>, core_type = #pto.sync_core_type<{}>"

WHAT_AN_ARRAY_OF_EVENT_IDS_MAY_NOT_BE = rows(lambda text, message, kind: twins(text, message, sort=kind))(f"""
{IDS.format("«2|1»")}%id = pto.eventid_array_get %ids[~%k] : !pto.eventid_array<2> -> index
  ⇒ [invalid] index is 2; it must be 0..1
{IDS.format(0)}%v = arith.constant «8|7» : index
pto.eventid_array_set %ids[%k], ~%v : !pto.eventid_array<2>, index
  ⇒ [id-range] value is 8; event ids are 0..7
{IDS.format(0)}%n = arith.constant «0.0 : f32|0 : i32»
%id = pto.eventid_array_get %ids[~%n] : !pto.eventid_array<2> -> index
  ⇒ [invalid] index must be index or i32 or i64, not f32
{IDS.format(0)}%id = pto.eventid_array_get %ids[%k] : !pto.eventid_array<2> -> ~«f32|i32»
  ⇒ [invalid] an event id is index, i32 or i64, not f32
""")

WHAT_AN_ELEMENT_MAY_NOT_BE = rows(twins)(f"""
{GET.format("~«MAT|ND»<16x64xf32>", "index", "f32")} ⇒ pto.tgetval expects src in vec, not mat
{GET.format("ND<16x64xf32>", "index", "~«i|f»32")} ⇒ pto.tgetval gives an element of src, f32, not i32
{GET.format("ND<16x64xf32>", "«f32|i32»", "f32").replace("%i", "~%i")} ⇒ offset must be index or i32 or i64, not f32
""")

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
    *WHAT_AN_ARRAY_OF_EVENT_IDS_MAY_NOT_BE,
    *WHAT_AN_ELEMENT_MAY_NOT_BE,
    *WHAT_A_VIEW_MAY_NOT_BE,
]
