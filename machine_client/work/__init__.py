"""What is done at the desktop: commands in their order, the clipboard, and a watch over it."""
