"""What a link says about the machine's clipboard."""
