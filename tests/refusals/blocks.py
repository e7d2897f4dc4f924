"""What is refused of regions of several blocks and of the ways between them."""

from language.source import rejects
from refusals.rule import rows

CHOICE = "%t = arith.cmpi sgt, %n, %n : i32\n"


def says(body: str, message: str, kind: str = "syntax") -> None:
    """Of a function with this body; a marker before a function stands in the text itself."""
    rejects(body if "func.func" in body else f"func.func @k(%n: i32) {{\n{body}\n}}\n", message, kind)


def function(body: str) -> str:
    return f"~func.func @k(%n: i32) {{\n{body}\n}}\n"


WAYS_THAT_ARE_NOT_IFS_AND_LOOPS = rows(says, kind="unsupported")(
    """
cf.br ^a
^a:
~cf.br ^a
  ⇒ a loop whose first block does not decide whether it goes on
""",
    (
        function(
            f"{CHOICE}cf.cond_br %t, ^a, ^c\n^a:\n%u = arith.cmpi sgt, %n, %n : i32\ncf.cond_br %u, ^b, ^c\n^b:\n"
            "cf.br ^d\n^c:\ncf.br ^d\n^d:\nreturn"
        ),
        "a block of this region is reached by other ways than those of ifs and loops",
    ),
    (
        function("".join(f"cf.br ^b{at}\n^b{at}:\n" for at in range(200)) + "return"),
        "a region of more than 200 blocks",
    ),
)

BLOCKS_THAT_ARE_NOT = [
    *rows(says)(f"""
cf.br ^a
^a:
scf.yield
^b:
~return
  ⇒ another block of the region ends with scf.yield
{CHOICE}~scf.if %t {{
^a:
cf.br ^a
}}
return
  ⇒ a region of scf.if has exactly one block
{CHOICE}~scf.if %t {{
cf.br ^a
^a:
}}
return
  ⇒ a region of scf.if has exactly one block
~pto.vecscope {{ ^a: ^b: }}
return
  ⇒ a region of pto.vecscope has exactly one block
cf.br ^a
^a:
return
~^a:
return
  ⇒ ^a is already defined
cf.br ^a
^b:
return
~^b:
return
  ⇒ ^b is already defined
~cf.br ^a(%n : i32)
^a:
return
  ⇒ the block that cf.br leads to takes ()
%five = ~arith.constant 5 : i32
^a:
return
  ⇒ a block must end with a branch or with the end of the region
"""),
    *rows(says, kind="invalid")("""
cf.cond_br ~%n, ^a, ^a
^a:
return
  ⇒ %n has type i32, but is used as i1
"""),
]

RULES = [*WAYS_THAT_ARE_NOT_IFS_AND_LOOPS, *BLOCKS_THAT_ARE_NOT]
