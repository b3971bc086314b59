"""Webhooks: what happened is posted to addresses that organizations name, signed."""
