import asyncio

import pytest

from server.process.throttle import BlockingThrottle
from tests.server.web.bodies.test_incoming import trajectory
from tests.service import Service


async def test_steps_do_not_follow_one_another_without_a_rest() -> None:
    blocking_throttle, order = BlockingThrottle(), []

    async def step(name: str) -> None:
        async with blocking_throttle.turn():
            order.append(name)
            # Some work, so that there is a rest.
            sum(range(200_000))

    async def other() -> None:
        while order[-2:-1] != ["second"] and len(order) < 100:
            await asyncio.sleep(0)
            if order and order[-1] != "other":
                order.append("other")

    await asyncio.gather(step("first"), step("second"), other())
    assert order[:3] == ["first", "other", "second"]


async def test_step_that_fails_gives_the_turn_to_the_next() -> None:
    blocking_throttle = BlockingThrottle()
    for _ in range(2):
        with pytest.raises(KeyError):
            async with blocking_throttle.turn():
                raise KeyError


async def test_long_bodies_wait_for_their_turn_and_short_ones_do_not(service: Service) -> None:
    async with service.server.services.operation.blocking_throttle.turn():
        content = trajectory(trajectory_data=[{}] * 50_000)
        sending = service.server.services.background.start(
            service.post("/v1/trajectories", content=content), "a long body"
        )
        assert (await service.post("/v1/trajectories", content=trajectory())).status == 201
        assert not sending.done()
    assert (await sending).status == 201
