"""What the nodes of an installation tell one another through the database."""
