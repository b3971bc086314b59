"""Wayland's clipboard by data control: owned on behalf of whoever writes, read from others."""
