"""The machine it runs on: the compiler, and what is kept on disk."""
