"""What a server and a machine client say to each other: text messages and picture frames."""
