"""An input with a long text, in the messages that it takes."""

from schemas.inputs.bodies import Operation
from schemas.link.clipboard_messages import InputText, input_texts
from schemas.link.messages import Input


def with_text(message: Input) -> list[InputText | Input]:
    """What is sent for an input, in this order and all in one go."""
    if message.operation is not Operation.CLIPBOARD_WRITE:
        return [message]
    before, last = input_texts(
        message.link_id, message.command_id, message.body["text"], message.server_time
    )
    body = {**message.body, "text": last}
    return [*before, message.model_copy(update={"body": body})]
