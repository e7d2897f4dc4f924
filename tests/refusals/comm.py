"""What is refused of copies between ranks, signals, collectives and transfers."""

from language.move_kernel import rejects, twins
from refusals.rule import rows

PUT = "pto.comm.tput(%dst, %src, buf(%ping) : {}, {}, {})"
TWO = "pto.comm.tget(%dst, %src, buf(%ping, %pong) : PV<32x64xf32>, PV<32x64xf32>, {}, {})"
NOTIFY = "pto.comm.tnotify(%signal, %value : {}, {}) {{notifyOp = #pto<notify_op set>}}"
WAIT = "pto.comm.twait(%signal, %value : {}, {}) {{cmp = #pto<wait_cmp ge>}}"
MEMBER = "PV<16x64xf32>"
SESSION = "%s = pto.comm.build_async_session(%t, %w : {}, {}) {{{}}} -> !pto.async_session"
ASYNC = "%e = pto.comm.tput_async(%dst, %src, %s : {}, {}, {}) -> !pto.async_event"

WHAT_A_COPY_MAY_NOT_BE = rows(twins)(f"""
{PUT.format(MEMBER, "~PV<16x«?|64»xf32>", "ND<16x64xf32>")}
  ⇒ pto.comm.tput expects src to have the static and dynamic extents of dst, 16x64, not 16x?
{PUT.format("PV<?x64xf32>", "~«TV|PV»<?x64xf32>", "ND<16x64xf32, valid=?x?>")}
  ⇒ pto.comm.tput expects src with dynamic extents to be a partition view, not !pto.tensor_view<?x64xf32>
{PUT.format("PV<20x64xf32>", "PV<20x64xf32>", "~ND<«16|10»x64xf32>")}
  ⇒ ping passes 16 rows at a time, which does not divide the 20 rows of the view
{PUT.format("PV<16x96xf32>", "PV<16x96xf32>", "~ND<16x«64|32»xf32>")}
  ⇒ ping passes 64 columns at a time, which does not divide the 96 columns of the view
{TWO.format("ND<16x64xf32>", "~ND<«8|16»x64xf32>")}
  ⇒ pto.comm.tget expects pong to have the type of ping, !pto.tile_buf<vec, 16x64xf32>, not !pto.tile_buf<vec, 8x64xf32>
pto.comm.tput(%dst, %src, buf(%ping) : ~PV<16x64x«ui8|i8»>, PV<16x64x«ui8|i8»>, ND<16x64x«ui8|i8»>) {{atomicType =
    #pto<atomic_type atomic_add>}}
  ⇒ pto.comm.tput expects dst of atomic_add to have elements of f32, f16, bf16, i32, i16, i8, not ui8
pto.comm.«tget|tput»(%dst, %src, buf(%ping) : PV<16x64xf32>, PV<16x64xf32>, ND<16x64xf32>) {{atomicType =
    ~#pto<atomic_type atomic_add>}}
  ⇒ pto.comm.tget has no atomic form: only pto.comm.tput adds to what is there
{PUT.format("~«ND|PV»<16x64xf32>", MEMBER, "ND<16x64xf32>")} ⇒ dst must be a view, not !pto.tile_buf<vec, 16x64xf32>
""")

WHAT_A_SIGNAL_MAY_NOT_BE = rows(twins)(f"""
{NOTIFY.format("~PV<«2|1»xi32>", "i32")} ⇒ pto.comm.tnotify expects signal to be one word, not 2 words
{WAIT.format("~PV<«?|1»xi32>", "i32")} ⇒ pto.comm.twait expects signal to have static positive extents, not ?
{WAIT.format("~«ND<1x8xi32>|PV<1xi32>»", "i32")} ⇒ signal must be a view, not !pto.tile_buf<vec, 1x8xi32>
""")

HOW_A_SIGNAL_IS_WRITTEN = rows(rejects, sort="syntax")("""
~pto.comm.tnotify(%s, %v : PV<1xi32>, i32) ⇒ pto.comm.tnotify needs the attribute 'notifyOp'
~pto.comm.twait(%s, %v : PV<1xi32>, i32) ⇒ pto.comm.twait needs the attribute 'cmp'
pto.comm.twait(%s, %v : PV<1xi32>, i32) {cmp = ~#pto<cmp eq>} ⇒ cmp must be #pto<wait_cmp ...>, not of kind cmp
pto.comm.twait(%s, %v~) {cmp = #pto<wait_cmp eq>} ⇒ expected ':' and the types of the operands
pto.comm.twait(~%s : PV<1xi32>) {cmp = #pto<wait_cmp eq>} ⇒ pto.comm.twait has signal, value here; 1 given
pto.comm.twait(%s, %v : ~PV<1xi32>) {cmp = #pto<wait_cmp eq>} ⇒ pto.comm.twait has 2 operands here, but 1 types
""")

WHAT_A_TRANSFER_MAY_NOT_BE = rows(twins)(f"""
{SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "sync_id = ~«8|7» : i32")} ⇒ sync_id is 8; it must be 0..7
{SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "block_bytes = ~«0|1» : i64")}
  ⇒ block_bytes is 0; it must be at least 1
{SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "queue_num = ~«0|1» : i32")} ⇒ queue_num is 0; it must be at least 1
{SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "comm_block_offset = ~«-1|0» : i64")}
  ⇒ comm_block_offset is -1; it must be at least 0
{SESSION.format("ND<1x32xi8>", "!pto.ptr<i8, gm>", "channel_group_idx = ~«4294967296|4294967295» : i64")}
  ⇒ channel_group_idx is 4294967296; it must be 0..4294967295
{SESSION.format("~!pto.tile_buf<vec, 1x«4|8»xi8>", "!pto.ptr<i8, gm>", "")}
  ⇒ pto.comm.build_async_session expects control to have at least 8 bytes, not 4
{ASYNC.format("PV<1x256xf32>", "~PV<«2x128|1x256»xf32>", "!pto.async_session")}
  ⇒ pto.comm.tput_async expects src to be one line, all extents but the last 1, not 2x128
{ASYNC.format("PV<1x256xf32>", "~PV<1x«128|256»xf32>", "!pto.async_session")}
  ⇒ pto.comm.tput_async expects src to have 256 elements like dst, not 128
{ASYNC.format("PV<1x256xf32>", "~PV<1x«?|256»xf32>", "!pto.async_session")}
  ⇒ pto.comm.tput_async expects src to have static positive extents, not 1x?
{ASYNC.format("PV<1x256xf32>", "PV<1x256xf32>", "~«!pto.async_event|!pto.async_session»")}
  ⇒ pto.comm.tput_async expects session to be !pto.async_session, not !pto.async_event
%s = pto.get_prefetch_async_session ~%c : !pto.«async_session|prefetch_async_context» -> !pto.async_session
  ⇒ context must be !pto.prefetch_async_context, not !pto.async_session
%s = pto.get_prefetch_async_session %c : !pto.prefetch_async_context -> ~!pto.async_«event|session»
  ⇒ pto.get_prefetch_async_session gives !pto.async_session, not !pto.async_event
""")

AN_OPERAND_HAS_THE_TYPE_THAT_IS_WRITTEN = rows(twins)("""
module {
func.func @kernel(%s: PV<1xi32>, %v: i32) {
pto.comm.twait(%s, %v : PV<1xi32>, ~«i64|i32») {cmp = #pto<wait_cmp eq>}
return
}
}
  ⇒ value has type i32, but the type list says i64
""")

WHAT_A_COLLECTIVE_MAY_NOT_BE = [
    *rows(twins)("""
pto.comm.tbroadcast(%src, recv(%ping), group(%g0, %g1) : PV<16x64xf32>, ND<16x64xf32>, PV<16x64xf32>,
    ~PV<16x«32|64»xf32>) {root = 0 : i32}
  ⇒ pto.comm.tbroadcast expects group[1] to have the type of the other members, !pto.partition_tensor_view<16x64xf32>,
    not !pto.partition_tensor_view<16x32xf32>
pto.comm.tbroadcast(%src, recv(%ping), group(%g0) : ~PV<«32|16»x64xf32>, ND<16x64xf32>, PV<16x64xf32>) {root = 0 : i32}
  ⇒ pto.comm.tbroadcast expects src to have the type of the members, !pto.partition_tensor_view<16x64xf32>, not
    !pto.partition_tensor_view<32x64xf32>
pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : PV<16x64xf32>, ~ND<«8|16»x64xf32>, ND<16x64xf32>,
    PV<16x64xf32>, PV<16x64xf32>) {reduceOp = #pto<reduce_op sum>, root = 0 : i32}
  ⇒ pto.comm.treduce expects acc to have the type of ping, !pto.tile_buf<vec, 16x64xf32>, not !pto.tile_buf<vec,
    8x64xf32>
pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : ~PV<«?|16»x64xf32>, ND<16x64xf32>, ND<16x64xf32>,
    PV<16x64xf32>, PV<16x64xf32>) {reduceOp = #pto<reduce_op sum>, root = 0 : i32}
  ⇒ pto.comm.treduce expects dst to have static positive extents, not ?x64
"""),
    *rows(twins, sort="out-of-bounds")("""
pto.comm.tgather(%buffer, recv(%ping), group(%g0, %g1) : ~PV<«16|32»x64xf32>, ND<16x64xf32>, PV<16x64xf32>,
    PV<16x64xf32>) {root = 0 : i32}
  ⇒ dst has 1024 elements, but 2 members of 1024 need 2048
pto.comm.tscatter(%buffer, recv(%ping), group(%g0, %g1) : ~PV<«16|40»x64xf32>, ND<16x64xf32>, PV<16x64xf32>,
    PV<16x64xf32>) {root = 0 : i32}
  ⇒ src has 1024 elements, but 2 members of 1024 need 2048
pto.comm.tgather(%buffer, recv(%ping), group(%g0, %g1) : ~PV<«16x128|32x80»xf32>, ND<16x64xf32>, PV<16x64xf32>,
    PV<16x64xf32>) {root = 0 : i32}
  ⇒ dst is 16x128, but it holds 32x64
pto.comm.tscatter(%buffer, recv(%ping), group(%g0, %g1) : ~PV<«64x32|32x64»xf32>, ND<16x64xf32>, PV<16x64xf32>,
    PV<16x64xf32>) {root = 0 : i32}
  ⇒ src is 64x32, but it holds 32x64
pto.comm.treduce(%dst, %acc, recv(%ping), group(%g0, %g1) : ~PV<«8|24»x64xf32>, ND<16x64xf32>, ND<16x64xf32>,
    PV<16x64xf32>, PV<16x64xf32>) {reduceOp = #pto<reduce_op sum>, root = 0 : i32}
  ⇒ dst has 512 elements, but a member has 1024
"""),
]

A_GROUP_HAS_MEMBERS = rows(rejects)("""
~pto.comm.tbroadcast(%src, recv(%ping), group() : PV<16x64xf32>, ND<16x64xf32>) {root = 0 : i32}
  ⇒ the group of pto.comm.tbroadcast has no members
""")

RULES = [
    *AN_OPERAND_HAS_THE_TYPE_THAT_IS_WRITTEN,
    *WHAT_A_COLLECTIVE_MAY_NOT_BE,
    *A_GROUP_HAS_MEMBERS,
    *WHAT_A_COPY_MAY_NOT_BE,
    *WHAT_A_SIGNAL_MAY_NOT_BE,
    *HOW_A_SIGNAL_IS_WRITTEN,
    *WHAT_A_TRANSFER_MAY_NOT_BE,
]
