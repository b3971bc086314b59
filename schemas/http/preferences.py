"""What a request's Prefer header asks for (RFC 7240)."""


def return_preference(prefer: str | None) -> str | None:
    """The ``return`` preference of a Prefer header; unknown preferences are ignored (RFC 7240)."""
    for part in (prefer or "").split(","):
        name, _, value = part.partition(";")[0].partition("=")
        value = value.strip().strip('"').lower()
        if name.strip().lower() == "return" and value in ("minimal", "representation"):
            return value
    return None
