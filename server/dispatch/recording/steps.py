"""Drafts as they are written: whose they are, what they were done to, and what stays a secret.

A text is kept only where its field is known to be no password's, or where that was said for the
recording; else its step names a secret.  What was copied is never kept.
"""

from collections.abc import Sequence
from typing import Any

from schemas.inputs.bodies import Operation
from schemas.link.messages import Display
from schemas.steps.reviews import Editor
from schemas.steps.step import MAX_PAUSE_MILLISECONDS, TEXT_FIELDS
from schemas.values.json_encoding import encode_json
from schemas.values.pictures import Region
from server.dispatch.command import Command, Ended, Sender
from server.dispatch.recording.before_and_after import Beneath
from server.dispatch.recording.drafts import Draft, drafts_of, span_of
from server.dispatch.recording.fields import is_in_plain_field
from server.dispatch.recording.keys import characters, pastes
from server.dispatch.recording.proposals import proposals
from server.dispatch.recording.targets import target_of
from server.dispatch.recording.unkept import Unkept
from server.store.machines.recording_marks import RecordingMark
from server.store.recordings.recordings import StoredStep
from server.store.recordings.writes import step_key


class SecretNames:
    """Names of secrets, each another one; ``used`` are how many there are."""

    def __init__(self, used: int) -> None:
        self.used = used

    def next(self) -> str:
        """One that was not used yet."""
        self.used += 1
        return f"secret_{self.used}"


def may_keep_text(draft: Draft, *, keep_texts: bool) -> bool | None:
    """Whether a draft's text, if it has one, may stand in its step; None is not known yet."""
    if draft.text is None:
        return True
    if draft.is_said_secret or is_copied(draft):
        return False
    return keep_texts or is_in_plain_field(draft)


def is_copied(draft: Draft) -> bool:
    """Whether a draft's text is copied, and so shown nowhere."""
    return draft.operation == Operation.CLIPBOARD_WRITE.value


def shows_secret(draft: Draft, *, is_kept: bool | None) -> bool:
    """Whether a draft brings something to the screen that no picture may show.

    That is a text that is not kept, and what is pasted while a person says that it is secret.
    """
    if draft.is_said_secret and _pastes(draft):
        return True
    return not is_kept and not is_copied(draft)


def _pastes(draft: Draft) -> bool:
    if draft.operation == Operation.KEYBOARD_KEY.value:
        return pastes(draft.body.get("text", ""))
    # Most programs paste as the button goes down.
    return draft.by_mouse and draft.body.get("button") == "middle"


def text_of(draft: Draft) -> str:
    """What a draft types: keys are kept as they are where all texts are."""
    if draft.operation == Operation.KEYBOARD_KEY.value:
        return characters(draft.body["text"])
    return draft.text or ""


def written(
    draft: Draft,
    *,
    pause_began: int | None,
    displays: Sequence[Display],
    secret: str | None,
    unkept: Unkept | None = None,
    pictures: tuple[str | None, str | None] = (None, None),
    shown: Region | None = None,
) -> StoredStep:
    """A draft as a step; ``secret`` is the name of what takes its text's place.

    ``unkept`` is what was typed that no step has; nothing is proposed where that is not known.
    ``pause_began`` is when the step before was over, ``shown`` what of the desktop is on the first
    of the pictures.
    """
    # A `Step`, written without checking it: all of it was checked as an input.
    body = draft.body
    if draft.text is not None and secret is None:
        body = {**body, TEXT_FIELDS[draft.operation]: draft.text}
    said: dict[str, Any] = {"operation": draft.operation, "body": body}
    if pause_began is not None:
        said["after_ms"] = min(max(draft.began - pause_began, 0), MAX_PAUSE_MILLISECONDS)
    if (sender := draft.sender) is not None:
        said |= {
            "by": {
                "token_id": str(sender.token_id),
                "token_name": sender.token_name,
                "user_id": sender.user_id and str(sender.user_id),
                "through": draft.through,
            },
            "command_id": str(draft.command_id),
            "picture": pictures[0],
            "picture_after": pictures[1],
        }
        # A field that is blacked out is found by no picture.
        is_hidden = secret is not None and draft.place is None
        if target := target_of(draft, displays, None if is_hidden else pictures[0], shown):
            said["target"] = target
        if draft.beneath is not None and unkept is not None:
            said |= _proposed(draft.beneath, unkept)
        if secret is not None:
            said["secret"] = secret
    return StoredStep(
        step_key(draft.command_id, draft.index),
        encode_json(said),
        is_gap=draft.is_gap,
        has_secret=secret is not None,
        author=None if sender is None else _author(sender),
    )


def _proposed(beneath: Beneath, unkept: Unkept) -> dict[str, Any]:
    """What a step has of what came and went by it."""
    proposed = proposals(beneath, unkept)
    return {"proposed": proposed} if proposed else {}


def told_late(command: Command, reply: Ended) -> list[StoredStep]:
    """The steps of an input of which nothing but its end is known.

    They have no pictures, and each text is a secret with a name of its own, also where texts are
    kept: nobody knows whether a person said then that it is secret.
    """
    span, name = span_of(reply, reply.ended_at), f"secret_{command.id.hex}"
    return [
        written(
            draft,
            pause_began=None,
            displays=(),
            secret=None if may_keep_text(draft, keep_texts=False) else f"{name}_{draft.index}",
        )
        for draft in drafts_of(command, reply.outcome, span, keep_texts=False)
    ]


def takes(mark: RecordingMark, command: Command) -> bool:
    """Whether an input is among those that are recorded.

    An input that names a recording of its own is of no other one of its token.
    """
    own = command.sender.token_id == mark.token_id
    return mark.of_all or (own and command.sender.recording in (None, mark.id))


def _author(sender: Sender) -> str:
    return Editor(
        token_id=sender.token_id, token_name=sender.token_name, user_id=sender.user_id
    ).author
