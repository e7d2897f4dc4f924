"""The memories of a core, the way to them, and where an access goes."""
