"""Numbers as NumPy lanes: formats, rounding, conversion, masks."""
