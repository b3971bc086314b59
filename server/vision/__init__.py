"""What is seen in the pictures of screens: texts, and pictures of parts of them.

`Vision` takes questions and has one of a few processes of its own answer each; `looking` is the
program of those, and knows OpenCV and the reader of texts.  Without ``farhand[vision]`` there is
none, and every question is refused.
"""
