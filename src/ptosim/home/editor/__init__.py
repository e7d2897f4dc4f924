"""Answers to what an editor asks about a kernel file.

text.py        a text that is edited, and its positions in the units of an editor
tokens.py      its tokens, whatever is wrong with it
names.py       where each value, function and block is defined and used
document.py    an open file: its text, what `verify` says of it, what is known of its values
outline.py     symbols, folding, colours, indentation
hover.py       what stands under the cursor
completion.py  what may stand there
actions.py     edits that diagnostics propose, and the current form
hints.py       what is shown between the words: addresses, synchronisation, cycles
processes.py   commands in processes of their own
server.py      the protocol
"""
