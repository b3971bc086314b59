r"""The value of the header Idempotency-Key: one key, however it is spelled.

A client may send the key bare, ``k``, or as the IETF draft has it, as a string of a structured
field (RFC 8941, section 3.3.3): ``"k"``, with ``\"`` and ``\\`` for what would end it.  Both mean
the same key, which here is always in its bare spelling; one that begins with a quotation mark has
none, and is quoted.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

_BARE = r"[!#-~][!-~]{0,254}"
_QUOTED = r'"(?:[!#-\[\]-~]|\\["\\]){1,255}"'


def _one_spelling(text: str) -> str:
    """The key that a header's value names."""
    if not text.startswith('"'):
        if re.fullmatch(_BARE, text) is None:
            raise PydanticCustomError(
                "string_pattern_mismatch", "must be 1 to 255 visible ASCII characters"
            )
        return text
    if re.fullmatch(_QUOTED, text) is None:
        raise PydanticCustomError(
            "string_pattern_mismatch",
            "what begins with a quotation mark must be a quoted string: 1 to 255 visible ASCII "
            'characters between two quotation marks, inside as \\" and \\\\ where they are '
            "quotation marks and backslashes, and nothing behind",
        )
    bare = re.sub(r"\\(.)", r"\1", text[1:-1])
    return text if bare.startswith('"') else bare


IdempotencyKey = Annotated[
    str,
    AfterValidator(_one_spelling),
    WithJsonSchema({"type": "string", "pattern": f"^(?:{_BARE}|{_QUOTED})$"}),
]
"""What names a request and its retries."""
