"""The machines whose links are on this node: what they are asked, and what they answer."""
