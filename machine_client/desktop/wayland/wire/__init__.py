"""Wayland's protocol, spoken by ourselves: four short files in place of a C library.

messages: what goes over the socket, without I/O.  protocols: the interfaces that are used here.
connection: one connection, its objects and their events.  registry: what the compositor offers.
"""
