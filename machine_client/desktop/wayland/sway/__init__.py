"""What sway tells beyond Wayland: where windows are, and which of them lies above which."""
