"""The abstract replay: a kernel without its data, at chosen arguments and branches, on the queues of the machine.

scalar_program.py   what the scalar unit does: loops, branches, addresses, what it hands to the pipes
integer_rules.py    its arithmetic
touched_bytes.py    which bytes an entry touches
vector_scope.py     likewise a vector scope
byte_shadow.py      who touched which byte, and what goes wrong
launches.py         the launches that are worth a replay
replay.py           one replay, and searches through many
"""
