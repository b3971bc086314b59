"""Webhooks, and what is to be posted to them."""
