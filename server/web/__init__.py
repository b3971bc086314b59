"""The machinery of HTTP: from an address to a handler, and from its answer to the socket."""
