"""Everything that outlives the process: MongoDB, through Motor, and nowhere else.

``embedded`` runs a mongod of our own; ``mongodb`` opens the client, bounds every wait and prepares
indexes; the others each store one kind of thing: ``trajectories``, with their workflows and
pictures, ``organizations``, ``tokens``, ``machines`` and ``commands``, the ledger.  The rooms above
get ``transactions``, whose work knows no MongoDB, and ``errors``, the whole list of what may go
wrong, in words of our own.
"""
