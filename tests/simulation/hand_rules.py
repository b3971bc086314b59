"""The rules of a hand, each of which can be taken out; see `tests.simulation.test_rules`."""

from unittest.mock import patch as patched

import pytest

from schemas.inputs.bodies import AnyInput
from server.dispatch.hand.ending import Failure
from server.dispatch.hand.hand import Hand


def keep_pressed_what_a_hand_held(patch: pytest.MonkeyPatch) -> None:
    """Nothing is released when the websocket ends."""

    def end(self: Hand) -> None:
        self._is_over = True
        self._queue.drop()

    patch.setattr(Hand, "end", end)


def release_before_a_press_has_its_end(patch: pytest.MonkeyPatch) -> None:
    """What is under way through another node is not waited for when the websocket ends."""
    end = Hand._end

    async def ended(self: Hand) -> None:
        with patched.object(self, "_sending", set()):
            await end(self)

    patch.setattr(Hand, "_end", ended)


def wait_for_nothing_elsewhere(patch: pytest.MonkeyPatch) -> None:
    """What a hand does is sent at once, wherever the machine's link is."""
    patch.setattr(Hand, "_may_send", lambda _self: True)


def send_again_what_is_not_known(patch: pytest.MonkeyPatch) -> None:
    """What was not answered in time is sent once more."""
    sent = Hand._sent

    async def sent_again(self: Hand, body: AnyInput) -> Failure | None:
        failure = await sent(self, body)
        if failure is not None and failure.something_happened:
            return await sent(self, body)
        return failure

    patch.setattr(Hand, "_sent", sent_again)


def say_nothing_of_a_failure(patch: pytest.MonkeyPatch) -> None:
    """What was refused is acknowledged like the rest."""
    patch.setattr(Hand, "_failed", lambda _self, _step, _failure: None)
