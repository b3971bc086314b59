"""Answers of people to halted runs that keep no node and no machine any more."""

import pytest

from schemas.inputs.outcomes import Refused
from schemas.resources.tokens import Scope
from tests.runs import Player, approved, begun, run_of, steps, until_ended, until_halted
from tests.service import Service


@pytest.mark.parametrize(("answer", "status"), [("done", "success"), ("cannot", "task_failed")])
async def test_run_that_keeps_no_machine_does_what_it_was_answered(
    service: Service, player: Player, answer: str, status: str
) -> None:
    player.outcomes = [Refused(code="outside", message="it is outside of the display")]
    trajectory = await approved(service, steps("a"))
    run = await begun(service, trajectory, halt_timeout=0)
    await until_halted(service, run)
    # It keeps its machine no longer once another has its turn there.
    other = await begun(service, trajectory)
    assert (await until_ended(service, other))["status"] == "success"
    help_id = (await run_of(service, run))["halted"]["help_id"]
    helper = await service.new_token(Scope.HELP_ANSWER)
    reply = await service.post(f"/v1/help/{help_id}/answer", {"answer": answer}, token=helper)
    assert reply.status == 200
    assert (await until_ended(service, run))["status"] == status
