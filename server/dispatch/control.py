"""Control of a machine: one person or program alone may send it inputs, for a time.

A lease is state in MongoDB, and is checked where the machine's link is.  It begins when that node
has confirmed that nothing runs and nothing is held any more of whoever had the machine before;
where it cannot, there is no lease.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

from schemas.resources.machines import Control
from server.clock import milliseconds
from server.dispatch import refusals
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.control import ControlChanged, FindLink
from server.dispatch.questions.question import Done, LinkQuestion, Refusal, RefusalKind
from server.errors import StoreUnavailable
from server.store.audit import AuditEntry, AuditStore
from server.store.identity.sessions import SessionStore
from server.store.identity.tokens import TokenStore
from server.store.machines.controls import (
    ControlStore,
    HeldMachine,
    NewControl,
    StoredControl,
    holder_of,
)
from server.store.machines.machines import MachineStore
from server.store.times import now
from server.tasks import at_most

LEASE_POLL_SECONDS: Final = 0.7
"""How often it is looked which leases have run out, and whose holders may do nothing any more."""

IDLE_POLL_SECONDS: Final = 10.0
"""The same where this node knows of none: a machine that is offline may have one."""


@dataclass(frozen=True)
class Caller:
    """Who takes control, or has it.

    ``session_hash`` is that of the console's session, for somebody who is signed in there: a lease
    of theirs is of no use in another one.
    """

    token_id: UUID
    name: str
    session_hash: bytes | None = None

    @property
    def looker(self) -> str:
        """What stands for them where they look at a machine."""
        return holder_of(self.token_id, self.session_hash)

    def lease_hash(self, lease: str) -> str:
        """What is stored and compared in place of a lease's id; another caller's is another."""
        holder = self.token_id.bytes if self.session_hash is None else self.session_hash
        return hashlib.sha256(holder + lease.encode()).hexdigest()


@dataclass(frozen=True)
class ChangedControl:
    """A lease as it is now; ``has_changed`` is whether it was private or open before."""

    control: Control
    has_changed: bool


class MachineControl:
    """Takes, renews and ends leases.

    ``changed`` is told of every machine whose control has changed.  ``session_idle`` is after how
    long without a request a session of the console ends.
    """

    def __init__(
        self,
        controls: ControlStore,
        machines: MachineStore,
        tokens: TokenStore,
        sessions: SessionStore,
        audit: AuditStore,
        dispatcher: Dispatcher,
        changed: Callable[[UUID, str], None],
        *,
        session_idle: timedelta,
    ) -> None:
        self._controls = controls
        self._machines = machines
        self._tokens = tokens
        self._sessions = sessions
        self._audit = audit
        self._dispatcher = dispatcher
        self._changed = changed
        self._session_idle = session_idle
        self._may_have_leases = asyncio.Event()
        self._may_have_leases.set()

    async def take(
        self,
        organization_id: UUID,
        machine_id: str,
        caller: Caller,
        *,
        take_over: bool,
        private: bool = False,
    ) -> Control:
        """Give control to a caller: a lease with a new id.

        Raises RefusedError where somebody has it, unless ``take_over``, and where the machine
        cannot be interrupted.
        """
        lease = secrets.token_urlsafe(24)
        new = NewControl(
            caller.lease_hash(lease), caller.name, caller.token_id, caller.session_hash, private
        )
        control = await self.reserve(organization_id, machine_id, new, take_over=take_over)
        return _view(machine_id, lease, control)

    async def reserve(
        self, organization_id: UUID, machine_id: str, new: NewControl, *, take_over: bool = False
    ) -> StoredControl:
        """Give control to whoever has this lease.  Raises RefusedError as ``take`` does."""
        # Not where nobody could interrupt it.
        about = {"organization_id": organization_id, "machine_id": machine_id}
        await self._ask(FindLink(**about))
        try:
            taken = await self._controls.take(organization_id, machine_id, new, take_over=take_over)
        finally:
            # Not before it: who looks while it is not stored yet sees none, and looks rarely then.
            self.look_soon()
        if taken is None:
            raise refusals.RefusedError(refusals.unknown_machine(machine_id))
        control, epoch = taken
        if control.lease_hash != new.lease_hash:
            raise refusals.RefusedError(
                refusals.control_held(control.by, milliseconds(control.since))
            )
        try:
            changed = ControlChanged(**about, epoch=epoch, lease_hash=new.lease_hash)
            await self._ask(changed)
        except (refusals.RefusedError, StoreUnavailable):
            await self._give_up(organization_id, machine_id, control)
            raise
        with suppress(StoreUnavailable):  # Then what runs is interrupted with the next link.
            await self._controls.confirm(
                organization_id, machine_id, control.lease_hash, control.since
            )
        self._changed(organization_id, machine_id)
        return control

    async def renew(
        self, organization_id: UUID, machine_id: str, caller: Caller, lease: str
    ) -> Control:
        """The lease with a later end.  Raises RefusedError where it is over."""
        control = await self._controls.renew(organization_id, machine_id, caller.lease_hash(lease))
        if control is None:
            raise refusals.RefusedError(await self._ended(organization_id, machine_id))
        return _view(machine_id, lease, control)

    async def make_private(
        self, organization_id: UUID, machine_id: str, caller: Caller, lease: str, *, private: bool
    ) -> ChangedControl:
        """Have a lease be private, or open, from now on: the node with the link has confirmed it.

        Raises RefusedError where the lease is over, and where nobody confirms: what was wanted is
        stored then, and holds once a node finds it there, within a second of reaching the machine.
        """
        lease_hash = caller.lease_hash(lease)
        about = {"organization_id": organization_id, "machine_id": machine_id}
        made = await self._controls.make_private(
            organization_id, machine_id, lease_hash, private=private
        )
        if made is None:
            raise refusals.RefusedError(await self._ended(organization_id, machine_id))
        control, epoch, has_changed = made
        self._changed(organization_id, machine_id)
        try:
            await self._ask(ControlChanged(**about, epoch=epoch, lease_hash=lease_hash))
        except refusals.RefusedError as error:
            if error.refusal.kind is RefusalKind.CONTROL_HELD:
                raise refusals.RefusedError(refusals.control_ended()) from None
            raise
        return ChangedControl(_view(machine_id, lease, control), has_changed)

    async def end(self, organization_id: UUID, machine_id: str, caller: Caller, lease: str) -> None:
        """Give control back; what is held is released.  Raises RefusedError where it is over."""
        if not await self.release(organization_id, machine_id, caller.lease_hash(lease)):
            raise refusals.RefusedError(await self._ended(organization_id, machine_id))

    async def keep(
        self, organization_id: UUID, machine_id: str, lease_hash: str
    ) -> StoredControl | None:
        """Renew the lease of this hash; None where it is over."""
        return await self._controls.renew(organization_id, machine_id, lease_hash)

    async def release(
        self,
        organization_id: UUID,
        machine_id: str,
        lease_hash: str,
        since: datetime | None = None,
    ) -> bool:
        """End the lease of this hash, so that what is held is released; False where it was over.

        One that can be taken again under its hash ends only where it began at ``since``.
        """
        if not await self._controls.end(organization_id, machine_id, lease_hash, since):
            return False
        await self._tell_end(organization_id, machine_id)
        return True

    async def check_held(self, organization_id: UUID, machine_id: str) -> None:
        """Raise RefusedError unless somebody has control of the machine."""
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            raise refusals.RefusedError(refusals.unknown_machine(machine_id))
        if machine.control is None or machine.control.expires_at <= now():
            raise refusals.RefusedError(refusals.control_free())

    async def open_hand(
        self, organization_id: UUID, machine_id: str, caller: Caller, lease: str
    ) -> UUID | None:
        """A new hand, which takes the place of every other of this lease; None where it is over.

        Raises StoreUnavailable.
        """
        hand, lease_hash = uuid4(), caller.lease_hash(lease)
        is_open = await self._controls.open_hand(organization_id, machine_id, lease_hash, hand)
        return hand if is_open else None

    async def in_force(
        self, organization_id: UUID, machine_id: str, caller: Caller, lease: str
    ) -> StoredControl | None:
        """A lease, if it is the machine's, and the caller's; a moment ago, if it has just ended.

        Raises StoreUnavailable, and RefusedError where there is no such machine.
        """
        machine = await self._machines.get(organization_id, machine_id)
        if machine is None:
            raise refusals.RefusedError(refusals.unknown_machine(machine_id))
        control = machine.control
        if (
            control is None
            or control.lease_hash != caller.lease_hash(lease)
            or control.expires_at <= now()
        ):
            return None
        return control

    async def run(self) -> None:
        """End what has run out, or whose holder may do nothing any more, for ever."""
        while True:
            await at_most(IDLE_POLL_SECONDS, self._may_have_leases.wait())
            self._may_have_leases.clear()
            try:
                await self._end_what_is_over()
            except StoreUnavailable:
                self.look_soon()  # Whether there are any is not known.
            await asyncio.sleep(LEASE_POLL_SECONDS)

    def look_soon(self) -> None:
        """There are leases, of which this node may not know yet."""
        self._may_have_leases.set()

    async def _end_what_is_over(self) -> None:
        held = await self._controls.all()
        if held:
            self._may_have_leases.set()
        usable = await self._usable(held)
        for each in held:
            key = each.organization_id, each.machine_id, each.control.lease_hash
            if not usable(each.control):
                has_ended = await self._controls.end(*key)
            else:
                has_ended = each.is_over and await self._controls.end_if_over(*key)
            if has_ended:
                await self._audit.add(_lapse(each))
                await self._tell_end(each.organization_id, each.machine_id)

    async def _usable(self, held: Sequence[HeldMachine]) -> Callable[[StoredControl], bool]:
        """Whether the token, and the session, of a lease's holder are good for anything yet."""
        controls = [each.control for each in held]
        if not controls:
            return lambda _: True
        tokens = await self._tokens.usable({each.token_id for each in controls})
        hashes = {each.session_hash for each in controls if each.session_hash is not None}
        found = await self._sessions.find_many(list(hashes)) if hashes else {}
        moment = now()
        sessions = {
            each
            for each, session in found.items()
            if not session.is_over(self._session_idle, moment)
        }
        return lambda control: (
            control.token_id in tokens
            and (control.session_hash is None or control.session_hash in sessions)
        )

    async def _ask(self, question: LinkQuestion[Done]) -> None:
        """Have something done.  Raises RefusedError, and StoreUnavailable."""
        reply = await self._dispatcher.ask(question)
        refusals.accepted(reply)

    async def _give_up(
        self, organization_id: UUID, machine_id: str, control: StoredControl
    ) -> None:
        """A lease that nobody confirmed is none; where that cannot be stored, it runs out."""
        with suppress(StoreUnavailable):
            await self.release(organization_id, machine_id, control.lease_hash, control.since)

    async def _tell_end(self, organization_id: UUID, machine_id: str) -> None:
        """Have what is held released; a link that cannot be told finds out within a second."""
        self._changed(organization_id, machine_id)
        with suppress(StoreUnavailable):
            await self._dispatcher.ask(
                ControlChanged(
                    organization_id=organization_id,
                    machine_id=machine_id,
                    epoch=0,
                    lease_hash=None,
                )
            )

    async def _ended(self, organization_id: UUID, machine_id: str) -> Refusal:
        if await self._machines.get(organization_id, machine_id) is None:
            return refusals.unknown_machine(machine_id)
        return refusals.control_ended()


def _view(machine_id: str, lease: str, control: StoredControl) -> Control:
    return Control(
        id=lease,
        machine_id=machine_id,
        by=control.by,
        since=control.since,
        private=control.private_since is not None,
        expires_at=control.expires_at,
    )


def _lapse(held: HeldMachine) -> AuditEntry:
    return AuditEntry(
        id=uuid4().bytes,
        organization_id=held.organization_id,
        created_at=now(),
        action="control.lapsed",
        token_id=held.control.token_id,
        token_name=held.control.by,
        target=held.machine_id,
        machine_id=held.machine_id,
        request_id="",
    )
