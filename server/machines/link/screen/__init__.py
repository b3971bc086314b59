"""What a link says of the machine's screen."""
