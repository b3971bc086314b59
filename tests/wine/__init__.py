"""A Windows Python under Wine, put together from packages, for tests alone.

No part of the product: it stands in for Windows where there is none.  What runs there is "tested
under Wine", and nothing more is claimed of it.
"""
