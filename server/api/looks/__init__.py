"""Handlers that look at machines' screens: pictures, waits, texts and elements."""
