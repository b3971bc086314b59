"""Whether a seed kept every promise."""

import json
from collections.abc import Container
from typing import NamedTuple
from uuid import UUID

from machine_client.journal.journal import EntryState
from schemas.inputs.actions import Actions
from schemas.inputs.outcomes import NotCarriedOut
from server.store.commands import CommandRecord, CommandState
from tests.answers import answer_of
from tests.simulation.callers import KeyHistory
from tests.simulation.desktop import Desktop, Happened
from tests.simulation.machine import Machine
from tests.simulation.mongo import Mongo
from tests.simulation.node import Node, connection_of
from tests.simulation.several import Answered, broken_of_several
from tests.simulation.world import World


class Ending(NamedTuple):
    """How a command ended, as it was answered."""

    status: int
    name: str
    injected_at_least: int = 0


class Verdict:
    """Watches the ledger while it is written, and looks at everything at the end."""

    def __init__(
        self, world: World, mongo: Mongo, nodes: list[Node], machines: dict[str, Machine]
    ) -> None:
        self.world = world
        self._mongo = mongo
        self._nodes = nodes
        self._machines = machines
        self.by_hand: Container[int] = ()
        """The marks of what somebody with control does by hand."""
        self._written_at: dict[UUID, float] = {}
        mongo.listen(self._written)
        world.must_be_released = self._must_be_released
        world.hand_must_be_released = self._hand_must_be_released

    def _written(self, before: CommandRecord | None, after: CommandRecord | None) -> None:
        if self.world.trace_lines is not None:
            self.world.trace("ledger", _short(before), "->", _short(after))
        if after is not None:
            self._written_at[after.command_id] = self.world.now
            if before is not None and before.state is CommandState.CLAIMED and after.state.is_final:
                self._ended_unsent(after)
        if before is not None and before.state.is_final and after is not None:
            self.world.violated(f"the final record of {before.command_id} was changed")
        if after is not None and after.state is CommandState.UNKNOWN:
            self.world.facts["unknown"] += 1
            if not self._is_honest(after):
                self.world.violated(f"{after.command_id} is unknown without need")

    def _is_honest(self, record: CommandRecord) -> bool:
        """Whether nobody can know what became of a command."""
        machine = self._machines[record.machine_id]
        if machine.is_removed or not record.is_keyed or record.command_id in machine.unfinished:
            return True
        entry = machine.disk.entries.get(record.command_id)
        if entry is not None and entry.state is EntryState.INTENT and not machine.is_running:
            return True
        since = connection_of(self._nodes, record).opened_at
        return any(moment >= since for moment in machine.losses)

    def check_answers(self, history: KeyHistory) -> None:
        """All final answers are the same, and are what is stored."""
        if not history.answers:
            return
        first = history.answers[0]
        if any((each.status, each.body) != (first.status, first.body) for each in history.answers):
            self.world.violated(f"key {history.key} got answers that differ: {history.answers}")
        record = self._record(history.command_id)
        if history.key is None:
            return
        if record is None or (kept := answer_of(record)) is None:
            self.world.violated(f"key {history.key} has a final answer and no final record")
        elif (kept.status, kept.body) != (first.status, first.body):
            self.world.violated(f"key {history.key} was answered otherwise than stored")
        if len(history.answered_bodies) > 1:
            self.world.violated(f"key {history.key} was good for {len(history.bodies)} bodies")
        self._check_lives(history, first.status)

    def _check_lives(self, history: KeyHistory, status: int) -> None:
        """What was done under a key in an earlier life is what the journal says of it."""
        allowed = {200, 422}
        if self._machines[history.machine_id].reboots:
            allowed.add(502)  # the end was not flushed
        for earlier, _ in history.earlier:
            if earlier == 200 and status not in allowed:
                self.world.violated(f"key {history.key} was done, and then answered {status}")

    def _ended_unsent(self, record: CommandRecord) -> None:
        """Only a run gives up what was not sent, so that it never will be."""
        run = self.world.run_of_life
        is_given_up = run is not None and record.request_id == str(run.run_id)
        if is_given_up and isinstance(record.outcome, NotCarriedOut):
            self.world.facts["runs: an input was given up before it was sent"] += 1
            return
        self.world.violated(f"{record.command_id} is final, and was never sent")

    def check_left_open(self) -> None:
        """Nothing that an earlier link sent is open when a newer one has been there for long."""
        live = [
            (connection, link)
            for node in self._nodes
            for connection, link in node.connections.items()
            if link.is_live and not node.process.is_dead
        ]
        for record in self._mongo.commands.records.values():
            if record.state is CommandState.SENT and any(
                link.machine_id == record.machine_id
                and link.epoch > record.epoch
                and connection.opened_at > self._written_at[record.command_id]
                for connection, link in live
            ):
                self.world.violated(f"{record.command_id} was left open")

    def links_unknown(self) -> list[str]:
        """The links that are live and that the database does not know: others cannot find them."""
        return [
            f"link {link.epoch} is live and not known: {machine}"
            for node in self._nodes
            if not node.process.is_dead
            for connection, link in node.connections.items()
            if (machine := self._mongo.machines.get(link.machine_id)) is not None
            and (link.is_live and not connection.is_over)
            and not (machine.is_linked and machine.epoch == link.epoch)
        ]

    def check_left_pressed(self) -> None:
        """Nothing is down but what a client that lives holds, or a person."""
        for machine in self._machines.values():
            ours = set(machine.x_server.down) - machine.x_server.persons
            if machine.is_running and (left := ours.difference(machine.client.hand.held)):
                self.world.violated(f"left pressed on {machine.machine_id}: {sorted(left)}")
            self._hand_must_be_released(machine.machine_id)

    def _hand_must_be_released(self, machine_id: str) -> None:
        """Nothing is held that somebody with control pressed by hand."""
        machine = self._machines[machine_id]
        for what in machine.client.hand.held if machine.is_running else ():
            if machine.client.hand.pressed_by[what] in self.by_hand:
                self.world.violated(f"left pressed by a hand on {machine_id}: {what}")

    def _must_be_released(self, machine_id: str) -> None:
        """Nothing of a program is held when a person gets control of a machine."""
        machine = self._machines[machine_id]
        if held := machine.client.hand.held:
            self.world.violated(f"control of {machine_id} was given while {held} were held")

    def check_happened(self, history: KeyHistory, desktop: Desktop) -> None:
        """What was answered is what the desktop saw."""
        if history.is_of_several:
            self._check_several(history, desktop)
            return
        happened = {mark: desktop.seen[mark] for mark in history.bodies if mark in desktop.seen}
        begun = sum(each.begun for each in happened.values())
        ended = sum(each.ended for each in happened.values())
        ending = self._ending(history)
        self.world.facts[ending.name] += 1
        if begun > 1:
            self.world.violated(f"key {history.key} was injected {begun} times")
        if history.key is None and ending.name == "not carried out":
            self.world.violated(f"nobody can know that {history.bodies} was not carried out")
        events = sum(each.events for each in happened.values())
        if ending.injected_at_least > events:
            self.world.violated(
                f"{history.key} claims {ending.injected_at_least} events, and {events} arrived"
            )
        wrong = {
            "completed": ended != 1,
            "failed": begun != 1 or ended != 0,
            "interrupted": ended != 0,
            "already down": begun != 0,
            "not carried out": begun != 0,
            "expired": begun != 0,
            "refused": begun != 0,
            "not seen": begun != 0,
        }
        if history.earlier and ending.name in ("expired", "refused", "not seen"):
            return  # It may have happened in an earlier life of the key.
        if wrong.get(ending.name):
            self.world.violated(
                f"{history.key} was answered {ending.name} ({ending.status}), and was begun "
                f"{begun} times and ended {ended} times"
            )
        if ending.name == "already down" and not self._machines[history.machine_id].visits:
            self.world.violated(f"{history.key} was already down, and nobody else was there")
        if ending.name == "completed":
            self._check_events(history, happened, desktop)

    def _check_several(self, history: KeyHistory, desktop: Desktop) -> None:
        """The same of several actions, each of which has its result."""
        sent = [each for each in history.bodies.values() if isinstance(each, Actions)]
        answer = self._answer(history)
        answered = None if answer is None else Answered.of(*answer)
        ending = self._ending(history)
        self.world.facts[f"several actions: {ending.name}"] += 1
        for promise in broken_of_several(
            sent, answered, desktop, is_first_life=not history.earlier
        ):
            self.world.violated(f"{history.key}: {promise}")
        events = sum(desktop.happened(mark).events for mark in history.marks)
        if ending.injected_at_least > events:
            self.world.violated(f"{history.key} claims more than the {events} events that arrived")
        if answered is not None and answered.is_unknown and not answered.results:
            self._check_nothing_is_known(history, has_begun=events > 0)

    def _check_nothing_is_known(self, history: KeyHistory, *, has_begun: bool) -> None:
        """That no action has a result is said where the journal was lost, and nowhere else.

        What a power cut leaves of it has the results of what was begun.
        """
        record, machine = self._record(history.command_id), self._machines[history.machine_id]
        if record is None or machine.is_removed or not record.is_keyed or history.earlier:
            return
        since = connection_of(self._nodes, record).opened_at
        is_lost = any(moment >= since for moment in machine.losses)
        if not is_lost or (has_begun and machine.replaced_at < since):
            self.world.violated(f"{history.key} was begun, and no action has a result")

    def _check_events(
        self, history: KeyHistory, happened: dict[int, Happened], desktop: Desktop
    ) -> None:
        """All events of what was completed arrived, in their order."""
        for mark, each in happened.items():
            wanted = desktop.plans[mark].steps
            if each.ended and each.steps != wanted and not each.is_disturbed:
                self.world.violated(
                    f"{history.key} was answered completed, and of {wanted} arrived {each.steps}"
                )

    def _ending(self, history: KeyHistory) -> Ending:
        answer = self._answer(history)
        if answer is None:
            return Ending(0, "no final answer")
        status, body = answer
        injected = json.loads(body).get("injected_at_least", 0) if status == 502 else 0
        names = {200: "completed", 409: "not seen", 422: "refused"}
        for part, name in (
            (b"outcome-unknown", "outcome unknown"),
            (b"already_down", "already down"),
            (b"interrupted", "interrupted"),
            (b"input-failed", "failed"),
            (b"input-expired", "expired"),
            (b"not-carried-out", "not carried out"),
        ):
            if part in body:
                return Ending(status, name, injected)
        return Ending(status, names[status])

    def _answer(self, history: KeyHistory) -> tuple[int, bytes] | None:
        """The status and the body of the final answer, where there is one."""
        record = self._record(history.command_id)
        answer = None if record is None else answer_of(record)
        if answer is not None:
            return answer.status, answer.body
        return (history.answers[0].status, history.answers[0].body) if history.answers else None

    def _record(self, command_id: UUID | None) -> CommandRecord | None:
        return None if command_id is None else self._mongo.commands.records.get(command_id)


def _short(record: CommandRecord | None) -> str:
    if record is None:
        return "nothing"
    return (
        f"{str(record.command_id)[:8]} {record.state} attempt {str(record.attempt)[:4]} epoch "
        f"{record.epoch} journal {record.journal_sequence}"
    )
