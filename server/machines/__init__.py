"""Links to machines: what is said on one, the socket that carries it, and who is connected."""
