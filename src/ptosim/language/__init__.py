"""The language of a `.pto` file: types, attributes and operations, the located parser, the verifier and the printer."""
