"""Farhand's tools for models, by the Model Context Protocol: one list, over stdio and at ``/mcp``.

``tools`` and what they are made of know the client library alone; ``protocol`` and ``over_http``
know MCP's SDK; ``own_handlers`` leads the library to the handlers of the node that it runs on.
"""
