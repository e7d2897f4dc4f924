"""Order: the synchronisation of a kernel, inserted where its author left it to the compiler."""
