"""Commands that stay, and show what happens as it happens."""
