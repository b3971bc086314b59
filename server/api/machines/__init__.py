"""Handlers of machines: their inputs, screens, commands and connections."""
