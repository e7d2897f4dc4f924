"""What is refused of reserved buffers."""

from language import source
from language.view_kernel import twins
from refusals.rule import rows

FIXED = 'name = "s", location = #pto.address_space<{}>, size = {} : i64, auto = false, base = {} : i64'


def reserve(location: str = "vec", size: str = "4096", base: str = "8192") -> str:
    return f"%b = pto.reserve_buffer {{{FIXED.format(location, size, base)}}} -> i32"


def pair(imported: str) -> str:
    consumer = (
        f"func.func @c_aiv() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n{reserve()}\nreturn }}"
    )
    producer = f"func.func @c_aic() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n{imported}\nreturn }}"
    return f"module {{\n{consumer}\n{producer}\n}}"


RULES_OF_RESERVING = rows(twins)(f"""
{reserve(location="«left|mat»").replace("#pto.", "~#pto.", 1)}
  ⇒ [invalid] pto.reserve_buffer needs a location: vec or mat, not l0a
{reserve(size="~«0|1»")} ⇒ [invalid] size is 0; it must be positive
{reserve(base="~«8200|8192»")} ⇒ [invalid] base is 8200; it must be a multiple of 256
{reserve(base="~«-256|256»")} ⇒ [invalid] base is -256; it must be a multiple of 256
{reserve(base="~«258048|4096»", size="8192")}
  ⇒ [out-of-bounds] the buffer occupies ub[258048:266240], but ub of a5 has 262144 bytes
{reserve(location="mat", base="~«524288|520192»")}
  ⇒ [out-of-bounds] the buffer occupies l1[524288:528384], but l1 of a5 has 524288 bytes
{reserve().replace("auto = false", "auto = «true|false»").replace("8192", "~8192")}
  ⇒ [invalid] expects no 'base' where auto is true: the place is planned
{reserve().replace(", base = 8192 : i64", "«|, base = 8192 : i64»").replace("pto.", "~pto.", 1)}
  ⇒ [invalid] expects 'base' where auto is not true
{reserve().replace("auto = false", "auto = ~«1 : i32|false»")} ⇒ [invalid] auto must be true or false, not 1 : i32
{reserve().replace("base = 8192 : i64", 'base = ~«"b"|256»')} ⇒ [invalid] base must be an integer, not "b"
{reserve().replace('name = "s", ', '«|name = "s", »').replace("pto.", "~pto.", 1)}
  ⇒ [invalid] pto.reserve_buffer needs the attribute 'name', a string
{reserve().replace("size = 4096 : i64, ", "«|size = 4096 : i64, »").replace("pto.", "~pto.", 1)}
  ⇒ [syntax] pto.reserve_buffer needs the attribute 'size'
""")


def importing(line: str, message: str) -> None:
    source.twins(pair(f"%b = pto.import_reserved_buffer {line}"), message)


RULES_OF_IMPORTING = rows(importing)("""
{name = "s", peer_func = ~@«other|c_aiv»} -> i32 ⇒ there is no function @other
{name = ~"«r|s»", peer_func = @c_aiv} -> i32 ⇒ @c_aiv reserves no buffer 'r'
{name = ~"s", peer_func = @c_«aic|aiv»} -> i32 ⇒ @c_aic reserves no buffer 's'
{name = "s", peer_func = ~«"c_aiv"|@c_aiv»} -> i32 ⇒ peer_func must be a function such as @consumer, not "c_aiv"
""")

RULES = [*RULES_OF_RESERVING, *RULES_OF_IMPORTING]
