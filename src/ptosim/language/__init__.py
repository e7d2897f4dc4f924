"""What a `.pto` file may say: types, attributes and operations, the located parser, the verifier and the printer."""
