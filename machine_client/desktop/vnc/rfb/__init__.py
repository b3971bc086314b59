"""The remote framebuffer protocol (RFC 6143 and its known extensions), without any I/O."""
