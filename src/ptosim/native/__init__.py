"""The fast engine: a kernel as LLVM IR text, compiled to an object that is kept on disk and runs on the host."""
