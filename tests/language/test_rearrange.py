"""Interleaving, squeezing, packing and unpacking."""

from language.vector_kernel import kernel, printed, read

# --- packing ----------------------------------------------------------------------------------------------------------


def unpack(name: str, element: str, result: str, part: str = "%s_index") -> str:
    return f"%d = pto.{name} %v_{element}, {part} : V<{element}> -> V<{result}>"


def test_the_part_of_an_unpacking_is_not_in_the_type_list():
    text = printed(read(kernel(unpack("vsunpack", "i16", "i32"))))
    assert " : !pto.vreg<128xi16> -> !pto.vreg<64xi32>" in text
