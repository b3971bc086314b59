"""The nodes of an installation: who is alive, and what becomes of the links of one that is not."""
