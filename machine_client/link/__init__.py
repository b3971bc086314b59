"""The link to the server: its state machine, its websocket, and how it comes back."""
