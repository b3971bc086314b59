"""The console's page: its files as they are sent to browsers.

``assets`` reads them once; server.api.console serves them, and keeps the sessions of who signs in.
"""
