"""Reading and printing: lexer, parser with locations, forms of instructions, canonical text."""
