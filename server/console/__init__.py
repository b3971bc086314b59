"""The pages for browsers, the console and those about the API: their files as they are sent.

``assets`` reads them once; server.api.console and server.api.documentation serve them.
"""
