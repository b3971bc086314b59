"""Texts, numbers, times and JSON values that several schemas share."""
