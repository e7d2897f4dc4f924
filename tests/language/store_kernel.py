"""Fixpipe stores for the tests of their clauses; names of operands as in scalar_kernel."""

X = "%s_i64"
FOUR = f"{X}, {X}, {X}, {X}"
STORES = ("l1", "gm", "ub")
CLAUSES = "unit_flag, pre_quant, pre_relu, nz2nd, nz2dn, nz2nz, loop3, sat, nosat"


def store(
    name: str, clauses: str = "", source: str = "f32", dest: str = "f32", mode: str = X, sizes: str = FOUR
) -> str:
    """A store of a tile, with clauses (without the leading comma)."""
    rest = {"l1": "", "gm": f", {X}, {X}", "ub": f", dst_mode({mode})"}[name]
    tail = f", {clauses}" if clauses else ""
    return f"pto.mte_l0c_{name} %p_{source}_l0c, %p_{dest}_{name}, {sizes}{rest}{tail}"
