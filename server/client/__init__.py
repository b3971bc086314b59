"""How a program calls a server: one connection after another, and what it answered."""
