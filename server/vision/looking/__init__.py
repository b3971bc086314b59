"""The program that looks at pictures, in processes of its own: they may take long, or die.

It reads questions from its standard input and writes the answers to its standard output, one after
another.  Nothing else of the server imports it.
"""
