"""Rules by which commands are forwarded, each broken; see test_rules.py.

That a message names one link is missed once in very many lives only, and left to `tests/model`.
"""

import asyncio

import pytest

from server.dispatch.command import Command, CommandReply
from server.dispatch.forwarding import elsewhere
from server.dispatch.forwarding.elsewhere import ForwardLostError, MachinesElsewhere
from server.dispatch.forwarding.forwards import Forwards
from server.dispatch.forwarding.membership import Membership
from server.dispatch.forwarding.responder import Responder
from server.dispatch.ledger import resolver
from server.dispatch.questions.inputs import CarryOut
from server.machines.socket import LinkSocket


def carry_out_whatever_comes(patch: pytest.MonkeyPatch) -> None:
    """A forwarded command is carried out by every message that brings it."""
    once = Responder._once

    async def every_time(self: Responder, message: CarryOut, link: LinkSocket) -> CommandReply:
        self._forwards = Forwards()
        return await once(self, message, link)

    patch.setattr(Responder, "_once", every_time)


def remember_only_what_is_under_way(patch: pytest.MonkeyPatch) -> None:
    """A forwarded command that is answered may come again."""

    once = Responder._once

    async def forgotten(self: Responder, message: CarryOut, link: LinkSocket) -> CommandReply:
        known = self._forwards
        known._replies = {each: reply for each, reply in known._replies.items() if not reply.done()}
        known._ends = sorted(end for end in known._ends if end[1] in known)
        return await once(self, message, link)

    patch.setattr(Responder, "_once", forgotten)


def take_what_was_lost_for_not_sent(patch: pytest.MonkeyPatch) -> None:
    """A command of which no reply came is said not to have happened."""
    carry_out = MachinesElsewhere.carry_out

    async def carried_out(self: MachinesElsewhere, command: Command) -> CommandReply | None:
        try:
            return await carry_out(self, command)
        except ForwardLostError:
            return None

    patch.setattr(MachinesElsewhere, "carry_out", carried_out)


def believe_a_refusal_after_a_lost_reply(patch: pytest.MonkeyPatch) -> None:
    """A node that refuses what is asked again is taken to speak of what was lost before, too."""
    patch.setattr(elsewhere, "_is_about_all", lambda _reply, _lost_at: True)


def believe_a_journal_about_what_has_no_key(patch: pytest.MonkeyPatch) -> None:
    """What a journal does not know has not been carried out, with a key or without."""
    patch.setattr(resolver, "_may_be_forgotten", lambda _record, _link: False)


def announce_no_link_again(patch: pytest.MonkeyPatch) -> None:
    """What the database knows of links is never put right."""

    async def nothing(_self: Membership) -> None:
        """Nobody looks."""

    patch.setattr(Membership, "_announce_missing_links", nothing)


def look_for_no_pause(patch: pytest.MonkeyPatch) -> None:
    """Only the node that is told of a pause keeps to it."""

    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    patch.setattr("tests.simulation.node.check_restrictions", never)
