"""What crosses the bus between the nodes of an installation."""
