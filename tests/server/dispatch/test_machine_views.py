"""How a machine is shown; its states are in tests/server/api/machines/test_machines.py."""

from schemas.resources.machines import Machine
from tests.links import hello
from tests.service import Service


async def shown(service: Service) -> Machine:
    """The machine as it is read."""
    return Machine.model_validate((await service.get("/v1/machines/desk-1")).json)


async def test_screen_is_as_the_machine_said_while_it_is_connected(service: Service) -> None:
    machine = await service.new_machine()
    before = await shown(service)
    assert (before.screen.available, before.screen.reason) == (
        False,
        "the machine is not connected",
    )
    async with machine.connected():
        assert (await shown(service)).screen == hello().screen


async def test_new_machine_has_had_no_inputs(service: Service) -> None:
    await service.new_machine()
    view = await shown(service)
    assert (view.inputs.completed, view.inputs.failed, view.last_input_at) == (0, 0, None)
