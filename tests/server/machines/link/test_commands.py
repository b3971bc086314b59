"""The commands of a link: what is awaited, what is settled, and what no honest machine says."""

import pytest

from schemas.inputs.outcomes import Expired, NotCarriedOut, Outcome, Refused
from schemas.link.close_codes import CloseCode
from server.machines.link.commands import KEY_REUSED, LATE_SECONDS, REMEMBERED_OUTCOMES
from server.machines.link.events import (
    AbandonCommands,
    AvailabilityChanged,
    CommandRuns,
    ResolutionRequested,
    SendMessage,
    SettleCommand,
    TimePassed,
)
from tests.links import (
    COMPLETED,
    LinkScript,
    about,
    ack,
    input_message,
    report,
    submitted,
)


def test_report_that_contradicts_an_earlier_outcome_closes_the_link(up: LinkScript) -> None:
    command = up.sent()
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    question = about(command.command_id)
    for contradiction in (NotCarriedOut(), None):
        again = LinkScript()
        again.bring_up()
        again.on(submitted(command), SendMessage(command))
        again.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
        again.on(ResolutionRequested(question), SendMessage(question))
        event = report(command.command_id, contradiction)
        again.closes_on(event, CloseCode.MESSAGE_INVALID, "contradicts its earlier outcome")
    up.on(ResolutionRequested(question), SendMessage(question))
    up.on(report(command.command_id), SettleCommand(command.command_id, COMPLETED))


def test_key_that_is_used_again_days_later_may_end_otherwise(up: LinkScript) -> None:
    command = input_message()
    for outcome in (Expired(), COMPLETED):
        up.on(submitted(command), SendMessage(command))
        up.on(ack(command.command_id, outcome), SettleCommand(command.command_id, outcome))


def test_key_that_is_used_again_days_later_for_another_request_is_refused(up: LinkScript) -> None:
    command = up.sent()
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    question = about(command.command_id)
    refused = Refused(code=KEY_REUSED, message="used for another request")
    for outcome in (refused, COMPLETED):
        up.on(ResolutionRequested(question), SendMessage(question))
        said = report(command.command_id, outcome)
        up.on(said, SettleCommand(command.command_id, outcome))


def test_remembered_outcomes_are_bounded(up: LinkScript) -> None:
    for number in range(REMEMBERED_OUTCOMES + 10):
        command = up.sent()
        up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
        assert len(up.link.commands._outcomes) <= min(number + 1, REMEMBERED_OUTCOMES)


def test_input_is_sent_and_its_acknowledgement_settles_it(up: LinkScript) -> None:
    command = up.sent()
    assert set(up.link.commands.unanswered) == {command.command_id}
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    assert not up.link.commands.unanswered


def test_inputs_are_sent_in_order_without_waiting_for_earlier_acknowledgements(
    up: LinkScript,
) -> None:
    first, second, third = input_message(), input_message(), input_message()
    for command in (first, second, third):
        up.on(submitted(command), SendMessage(command))
    # A late command may be given up while an earlier one still runs.
    up.on(
        ack(second.command_id, Expired(), sequence=1), SettleCommand(second.command_id, Expired())
    )
    up.on(ack(first.command_id), SettleCommand(first.command_id, COMPLETED))
    up.on(ack(third.command_id), SettleCommand(third.command_id, COMPLETED))


def test_acknowledgement_of_what_was_not_sent_closes_the_link(up: LinkScript) -> None:
    sent, other = input_message(), input_message()
    up.on(submitted(sent), SendMessage(sent))
    rest = up.closes_on(
        ack(other.command_id), CloseCode.MESSAGE_INVALID, str(other.command_id), "not waiting"
    )
    assert rest == [AbandonCommands((sent.command_id,))]


def test_second_acknowledgement_closes_the_link(up: LinkScript) -> None:
    command = up.sent()
    up.on(ack(command.command_id), SettleCommand(command.command_id, COMPLETED))
    rest = up.closes_on(
        ack(command.command_id, sequence=2), CloseCode.MESSAGE_INVALID, "not waiting"
    )
    assert rest == []


def test_resolution_is_asked_for_and_reported(up: LinkScript) -> None:
    command_id = input_message().command_id
    question = about(command_id)
    up.on(ResolutionRequested(question), SendMessage(question))
    up.on(report(command_id, NotCarriedOut()), SettleCommand(command_id, NotCarriedOut()))
    assert not up.link.commands.resolving


def test_command_that_is_reported_as_running_is_settled_by_its_acknowledgement(
    up: LinkScript,
) -> None:
    command_id = input_message().command_id
    question = about(command_id)
    up.on(ResolutionRequested(question), SendMessage(question))
    up.on(report(command_id, None), CommandRuns(command_id))
    up.on(ack(command_id, sequence=2), SettleCommand(command_id, COMPLETED))


@pytest.mark.parametrize("is_overdue", [False, True], ids=["in time", "overdue"])
def test_report_that_another_request_has_the_key_ends_no_command_that_was_sent(
    up: LinkScript, is_overdue: bool
) -> None:
    """Its sender forgot the one that was asked about, and this one came under the key since."""
    command = input_message()
    question = about(command.command_id)
    up.on(submitted(command, 1010.0 - LATE_SECONDS), SendMessage(command))
    up.on(ResolutionRequested(question), SendMessage(question))
    if is_overdue:
        up.later(10.5)
        up.on(TimePassed(), AvailabilityChanged())
    reused = Refused(code=KEY_REUSED, message="used for another request")
    up.on(report(command.command_id, reused), CommandRuns(command.command_id))
    settled = up.link.handle(ack(command.command_id, sequence=2))
    assert settled[0] == SettleCommand(command.command_id, COMPLETED)


@pytest.mark.parametrize(
    ("acknowledged", "reported"), [(Expired(), NotCarriedOut()), (Expired(), Expired())]
)
def test_late_command_that_is_asked_about_while_its_answer_is_on_its_way_is_no_contradiction(
    up: LinkScript, acknowledged: Outcome, reported: Outcome
) -> None:
    command = input_message()
    question = about(command.command_id)
    up.on(submitted(command), SendMessage(command))
    up.on(ResolutionRequested(question), SendMessage(question))
    up.on(ack(command.command_id, acknowledged), SettleCommand(command.command_id, acknowledged))
    up.on(report(command.command_id, reported), SettleCommand(command.command_id, acknowledged))


def test_report_on_what_was_not_asked_closes_the_link(up: LinkScript) -> None:
    sent = up.sent()
    rest = up.closes_on(report(sent.command_id), CloseCode.MESSAGE_INVALID, "not asked about")
    assert rest == [AbandonCommands((sent.command_id,))]


def test_second_report_closes_the_link(up: LinkScript) -> None:
    command_id = input_message().command_id
    question = about(command_id)
    up.on(ResolutionRequested(question), SendMessage(question))
    up.on(report(command_id), SettleCommand(command_id, COMPLETED))
    up.closes_on(report(command_id), CloseCode.MESSAGE_INVALID, "not asked about")
