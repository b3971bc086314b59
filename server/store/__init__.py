"""Everything that outlives the process: MongoDB, through Motor, and nowhere else.

``embedded`` runs a mongod of our own; ``database`` opens the client, bounds every wait and
prepares indexes; the others each keep one kind of thing: ``trajectories``, ``workflows``,
``organizations``, ``tokens``, ``machines`` and ``commands``, the ledger.  ``errors`` is the whole
list of what may go wrong, in words of our own.
"""
