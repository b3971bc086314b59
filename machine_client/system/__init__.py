"""What differs between operating systems, desktops aside: clock, boot, event loop, signals."""
