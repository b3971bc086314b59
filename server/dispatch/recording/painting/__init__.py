"""What is painted over on pictures of a recording before they are kept."""
