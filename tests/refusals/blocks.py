"""What is refused of regions of several blocks and of the ways between them."""

from language.source import rejects
from refusals.rule import rows

CHOICE = "%t = arith.cmpi sgt, %n, %n : i32\n"


def says(body: str, message: str, kind: str = "syntax") -> None:
    """Of a function with this body; a marker before a function stands in the text itself."""
    rejects(body if "func.func" in body else f"func.func @k(%n: i32) {{\n{body}\n}}\n", message, kind)


def function(body: str) -> str:
    return f"~func.func @k(%n: i32) {{\n{body}\n}}\n"


WAYS_THAT_ARE_NOT_IFS_AND_LOOPS = rows(
    says,
    ("cf.br ^a\n^a:\n~cf.br ^a", "a loop whose first block does not decide whether it goes on"),
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
    kind="unsupported",
)

BLOCKS_THAT_ARE_NOT = [
    *rows(
        says,
        ("cf.br ^a\n^a:\nscf.yield\n^b:\n~return", "another block of the region ends with scf.yield"),
        (f"{CHOICE}~scf.if %t {{\n^a:\ncf.br ^a\n}}\nreturn", "a region of scf.if has exactly one block"),
        (f"{CHOICE}~scf.if %t {{\ncf.br ^a\n^a:\n}}\nreturn", "a region of scf.if has exactly one block"),
        ("~pto.vecscope { ^a: ^b: }\nreturn", "a region of pto.vecscope has exactly one block"),
        ("cf.br ^a\n^a:\nreturn\n~^a:\nreturn", "^a is already defined"),
        ("cf.br ^a\n^b:\nreturn\n~^b:\nreturn", "^b is already defined"),
        ("~cf.br ^a(%n : i32)\n^a:\nreturn", "the block that cf.br leads to takes ()"),
        (
            "%five = ~arith.constant 5 : i32\n^a:\nreturn",
            "a block must end with a branch or with the end of the region",
        ),
    ),
    *rows(says, ("cf.cond_br ~%n, ^a, ^a\n^a:\nreturn", "%n has type i32, but is used as i1"), kind="invalid"),
]

RULES = [*WAYS_THAT_ARE_NOT_IFS_AND_LOOPS, *BLOCKS_THAT_ARE_NOT]
