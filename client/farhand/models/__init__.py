"""The computer tools of models' vendors on a machine, each in its vendor's own extension point.

:mod:`farhand.models.anthropic`, :mod:`farhand.models.openai` and :mod:`farhand.models.gemini` need
the vendors' SDKs: ``pip install 'farhand-client[openai]'`` brings one.  What a turn of a model does
is one request to the machine, with one key: so it happens at most once.
"""

from farhand._models.errors import ActionFailed, ModelError, NotConfirmed, OutOfSteps

__all__ = ["ActionFailed", "ModelError", "NotConfirmed", "OutOfSteps"]
