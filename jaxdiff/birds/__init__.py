"""Birds-v0: a slingshot world after Science Birds, with levels in its public format and thirteen novelties."""
