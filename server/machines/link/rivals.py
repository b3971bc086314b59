"""Other hosts that come with the token of a machine that is connected: clones of its disk.

A machine client that was taken over comes back and yields.  One that was only started anew is not
there any more, and cannot; so whoever yields to a live link runs beside it, and the two have one
token.  Whether both are on one host, the boot tells: clones of a disk have one machine id and
often one name, and never one boot.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from schemas.values.foreign_texts import ShortForeignText

MOST_RIVALS: Final = 50
"""So many are told apart; of more it is said that there are more."""

_MOST_NAMED: Final = 3


class Rival(BaseModel):
    """A host that comes with a token, while another one that has it is connected."""

    model_config = ConfigDict(frozen=True)

    boot_id: ShortForeignText
    host: ShortForeignText


def explained(rivals: Sequence[Rival], own_boot_id: str) -> str:
    """For a person, that others come with a machine's token, and what is to be done."""
    others = [each for each in rivals if each.boot_id != own_boot_id]
    if not others:
        return (
            "a second machine client comes with its token, from the same host: stop one of the two"
        )
    names = ", ".join(sorted({each.host for each in others})[:_MOST_NAMED])
    count = f"{len(others)} or more" if len(rivals) >= MOST_RIVALS else f"{len(others)}"
    hosts = "another host comes" if len(others) == 1 else f"{count} other hosts come"
    return (
        f"{hosts} with its token ({names}), as clones of one disk do: each needs its own; on all "
        "but one delete the token's file, and join with a code"
    )
