"""The inputs, the keys that they may name, and how they end."""
