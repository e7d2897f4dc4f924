"""Small kernels for the tests of tiles and views.

A body may use the arguments and constants below; TB stands for the type of `%t`, TV for that of `%v`. A `~` stands
before the token that a diagnostic is expected to point at; `«wrong|right»` says how a kernel differs from its twin.
"""

from language import source

ARGUMENTS = {
    "%p": "!pto.ptr<f32, gm>",
    "%m": "index",
    "%n": "index",
    "%i": "index",
    "%j": "index",
    "%w": "i32",
    "%x": "i32",
    "%f": "f32",
    "%a": "i64",
}
CONSTANTS = {
    "index": (0, 1, 2, 3, 8, 15, 16, 17, 32, 33, 63, 64, 65, -1),
    "i64": (0, 32, 48, 512, 544, 4096, 65536, 249856, 253952, 258048, -32),
}
TB = "!pto.tile_buf<vec, 16x64xf32>"
TV = "!pto.tensor_view<?x64xf32>"


def name(value: int) -> str:
    return f"m{-value}" if value < 0 else str(value)


def kernel(body: str) -> str:
    """A module around a body: `%c16` is the index 16, `%a512` the address 512, `%cm1` the index -1."""
    prefixes = {"index": "c", "i64": "a"}
    constants = [
        f"%{prefixes[type_]}{name(value)} = arith.constant {value} : {type_}"
        for type_, values in CONSTANTS.items()
        for value in values
    ]
    arguments = ", ".join(f"{argument}: {type_}" for argument, type_ in ARGUMENTS.items())
    view = f"%v = pto.make_tensor_view %p, shape = [%m, %c64], strides = [%c64, %c1] : {TV}"
    lines = "\n".join((*constants, view, body.replace("TB", TB).replace("TV", TV)))
    return f"module {{\nfunc.func @kernel({arguments}) attributes {{pto.entry}} {{\n{lines}\nreturn\n}}\n}}\n"


def accepts(body: str, target: str = "a5") -> str:
    return source.accepts(kernel(body), target)


def prints(body: str, expected: str, target: str = "a5") -> None:
    """The body is accepted, and its canonical text has this line."""
    assert expected.replace("TB", TB).replace("TV", TV) in [line.strip() for line in accepts(body, target).splitlines()]


def rejects(body: str, message: str, kind: str = "invalid", target: str = "a5") -> None:
    source.rejects(kernel(body), message.replace("TB", TB).replace("TV", TV), kind, target)


def twins(body: str, message: str, kind: str = "invalid", target: str = "a5") -> None:
    source.twins(kernel(body), message.replace("TB", TB).replace("TV", TV), kind, target)


def warns(body: str, message: str, kind: str = "lint", target: str = "a5") -> None:
    source.warns(kernel(body), message, kind, target)


def reports(body: str, message: str, kind: str = "invalid", target: str = "a5") -> None:
    """One of the errors of the body is this one, at its marker."""
    text, expected = source.place(kernel(body))
    found = [error for error in source.errors(text, target) if error.message == message and error.kind == kind]
    places = [(error.location.line, error.location.column) for error in found if error.location is not None]
    assert expected in places
