"""Elements by AT-SPI, the accessibility interface of Linux desktops: bus, trees, search, places."""
