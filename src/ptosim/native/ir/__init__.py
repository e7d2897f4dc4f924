"""LLVM IR under construction: values, functions, objects, and the words of the context that they share with the run."""
