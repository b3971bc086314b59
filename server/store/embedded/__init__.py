"""A mongod of our own, which lives and dies with the server."""
