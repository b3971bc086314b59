"""A machine as a model works it: a turn's steps in one request, and pictures of one size."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from farhand._async.machine import AsyncMachine
from farhand._models import phrases
from farhand._models.steps import (
    MOST_SETTLING_SECONDS,
    SETTLE_SECONDS,
    Outcome,
    Request,
    Step,
    requests_of,
)
from farhand._models.view import View
from farhand.actions import Size
from farhand.errors import (
    ActionsStopped,
    InputExpired,
    InputFailed,
    InvalidRequest,
    NotCarriedOut,
    OutcomeUnknown,
)
from farhand.types import ActionsResult, Picture, PictureContent


class AsyncDesk:
    """Carries out the steps of a model on a machine.

    ``longest`` is the longest side of its pictures, in pixels; none is enlarged.  ``grid`` is what
    places are pixels of, where they are not those of the picture that the model had last.

    What the machine says of one action becomes a phrase in its Outcome.  All else is raised, as a
    FarhandError: that the machine is away, or that the token has no right to it.
    """

    def __init__(self, machine: AsyncMachine, longest: int, grid: Size | None = None) -> None:
        self._machine = machine
        self._largest = {"width": longest, "height": longest}
        self._grid = grid
        self._view: View | None = None

    async def carry_out(self, steps: Sequence[Step]) -> list[Outcome]:
        """Carry out steps in their order until one fails; the outcome of each."""
        outcomes: list[Outcome] = []
        for together in requests_of([await self._prepared(step) for step in steps]):
            outcomes += await self._carried_out(together)
            if any(each.failure for each in outcomes):
                break
        left = len(steps) - len(outcomes)
        return outcomes + [Outcome(phrases.NOT_EXECUTED)] * left

    async def look(self, wanted: Mapping[str, Any] | None = None) -> Picture | PictureContent:
        """A picture of the desktop, or the one that is wanted, once the screen is still."""
        wanted = wanted or self._largest
        seen = await self._machine.wait(
            still=SETTLE_SECONDS, timeout=MOST_SETTLING_SECONDS, screenshot=wanted
        )
        if isinstance(seen.screenshot, PictureContent):
            return self._shown(wanted, seen.screenshot)
        # It was left out, and says why to a person alone: this raises what is wrong.
        taken = await self._machine.screenshot(**_asked(wanted))
        return self._shown(wanted, taken)

    async def view(self) -> View:
        """The picture that the model has, or would have, had it looked."""
        return self._view or View.of(await self.look())

    async def _prepared(self, step: Step) -> Step:
        """The step with all that a server must know: what its places are pixels of."""
        wanted: dict[str, Any] | None = {**self._largest} if step.looks else None
        if wanted is not None and step.region is not None:
            part = (await self.view()).part(step.region)
            if part is None:
                return Step(refusal=phrases.OUTSIDE)
            wanted["region"] = part
        actions = tuple([await self._placed(action) for action in step.actions])
        return replace(step, actions=actions, wanted=wanted)

    async def _placed(self, action: Mapping[str, Any]) -> dict[str, Any]:
        if "x" not in action and "to_x" not in action:
            return {**action}
        width, height = self._grid or (await self.view()).size
        return {**action, "in": {"width": width, "height": height}}

    async def _carried_out(self, steps: Sequence[Step]) -> list[Outcome]:
        """The outcomes of steps that fit into one request; those that are missing did not begin."""
        if (refusal := steps[0].refusal) is not None:
            return [Outcome(refusal)]
        request, result = Request.of(steps), None
        failures: dict[int, str] = {}
        try:
            if request.actions:
                result = await self._machine.actions(request.actions, screenshot=request.closing)
        except InvalidRequest as error:
            return await self._refused(steps, request, error)
        except (ActionsStopped, InputFailed, OutcomeUnknown) as error:
            if error.actions is None:
                return [Outcome(phrases.UNKNOWN)] * len(steps)
            failures = request.failures(error.actions)
        except (NotCarriedOut, InputExpired):
            return [Outcome(phrases.NOT_BEGUN)]
        return [
            Outcome(failures[number])
            if number in failures
            else await self._done(step, _picture(request, number, result))
            for number, step in enumerate(steps)
        ]

    async def _refused(
        self, steps: Sequence[Step], request: Request, error: InvalidRequest
    ) -> list[Outcome]:
        """Nothing has happened, as one step is wrong: those before it are good by themselves."""
        if error.is_about_the_key:
            raise error
        number = request.owner_of(error.wrong[0].loc)
        done = await self._carried_out(steps[:number]) if number else []
        if len(done) < number or any(each.failure for each in done):
            return done
        return [*done, Outcome(phrases.of_refusal(each.type for each in error.wrong))]

    async def _done(self, step: Step, picture: PictureContent | None) -> Outcome:
        """What the model is shown of a step that is done.

        A retry's answer has no pictures, and neither has one of too many: they are taken now.
        """
        if step.wanted is not None:
            taken = self._shown(step.wanted, picture) if picture else await self.look(step.wanted)
            return Outcome(picture=taken)
        if step.asks_pointer:
            view = await self.view()
            return Outcome(pointer=view.pixel(await self._machine.pointer()))
        return Outcome()

    def _shown(
        self, wanted: Mapping[str, Any], picture: Picture | PictureContent
    ) -> Picture | PictureContent:
        if "region" not in wanted:
            self._view = View.of(picture)
        return picture


def _asked(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """A picture as a single screenshot is asked for."""
    region = wanted.get("region")
    # In the order of a part of a View: x, y, width, height.
    return {**wanted, "region": region and (*region.values(),)}


def _picture(request: Request, number: int, result: ActionsResult | None) -> PictureContent | None:
    """The picture of a step that an answer has, if it has it."""
    if result is None:
        return None
    action = request.pictures.get(number)
    found = result.screenshot if action is None else result.actions[action].picture
    return found if isinstance(found, PictureContent) else None
