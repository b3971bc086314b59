"""A machine's clipboard: what was copied on it last, and copying something for its programs."""

from dataclasses import replace

from pydantic import Field

from schemas.http import problems
from schemas.inputs.bodies import WriteClipboard
from schemas.inputs.clipboard_texts import MAX_CLIPBOARD_BYTES, Selection
from schemas.resources.machines import ClipboardContent
from schemas.resources.tokens import Scope
from schemas.values.strict import StrictModel
from server.api.machines.paths import MachinePath
from server.api.machines.sending import InputHandler, InputHeaders, input_endpoint
from server.dispatch.looks import LookedAt
from server.dispatch.questions.clipboard import ReadClipboard
from server.web.endpoint import Endpoint

MAX_BODY_BYTES = 6 * MAX_CLIPBOARD_BYTES + 4096
"""JSON has at most six bytes for a byte of UTF-8, as for a control code."""


class SelectionQuery(StrictModel):
    """Which clipboard to read."""

    selection: Selection = Field(
        "clipboard",
        description="clipboard is what people copy; primary is what was marked last, on X11.",
    )


class ClipboardHandler(InputHandler):
    @Endpoint(
        summary="Read the clipboard",
        description="The text that was copied last on the machine, by whatever program, after "
        "all inputs that it got before.  Empty where nothing was copied.  At most 1 MiB as "
        "UTF-8.  It may be read while the machine is paused, and while somebody else has "
        "control of it that is not private, as its screen may be looked at.",
        scope=Scope.CLIPBOARD,
        path=MachinePath,
        query=SelectionQuery,
        answers={200: ClipboardContent},
        problems=(
            problems.NOT_FOUND,
            problems.MACHINE_BUSY,
            problems.MACHINE_UNAVAILABLE,
            problems.CLIPBOARD_UNREADABLE,
        ),
    )
    async def get(self, path: MachinePath, query: SelectionQuery) -> None:
        read = await self.look(
            ReadClipboard(**self.looking_at(path.machine_id), selection=query.selection),
            LookedAt.CLIPBOARD,
        )
        self.answer(200, ClipboardContent(text=read.text))

    @replace(
        input_endpoint("Write the clipboard", WriteClipboard),
        description="Copies a text on the machine, as a program there would: it stays until "
        "something else is copied, or the machine client ends.  An input like any other: in "
        "their order, under an Idempotency-Key if there is one, and recorded without the text.",
        scope=Scope.CLIPBOARD,
        max_body_bytes=MAX_BODY_BYTES,
    )
    async def put(self, path: MachinePath, headers: InputHeaders, body: WriteClipboard) -> None:
        await self.carry_out(path, headers, body)
