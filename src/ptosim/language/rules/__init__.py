"""The verifier: the rules that hold between operations, and those that instructions share."""
