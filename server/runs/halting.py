"""What is done where a run halts: it is stored with a picture, and people are asked for help."""

import logging
from collections.abc import Collection
from contextlib import suppress
from datetime import timedelta
from typing import Final
from uuid import UUID

from schemas.help.requests import HelpRequest, NewHelp
from schemas.inputs.pictures import PictureWanted
from schemas.resources.stored_pictures import media_type_of
from schemas.runs.runs import KEPT_DAYS, Halted
from server.dispatch.dispatcher import Dispatcher
from server.dispatch.questions.question import Refusal
from server.dispatch.questions.screens import PictureTaken, TakeScreenshot
from server.errors import NotFound, StoreError, WrongState
from server.fleet.help import Help
from server.identity.authentication import Principal
from server.runs.stops import Halting
from server.store.runs.documents import StoredRun
from server.store.times import now
from server.store.trajectories.pictures import PictureStore

logger = logging.getLogger(__name__)

LONGEST_REASON: Final = 1_000
LEAST_HELP_SECONDS: Final = 24 * 3_600
PICTURES_KEPT: Final = timedelta(days=2 * KEPT_DAYS)
"""Of halts: longer than a run that has halted goes on and is kept."""


class RunHalts:
    """Makes what is stored of a halt, and asks people."""

    def __init__(self, dispatcher: Dispatcher, pictures: PictureStore, help_: Help) -> None:
        self._dispatcher = dispatcher
        self._pictures = pictures
        self._help = help_

    async def halted(self, run: StoredRun, why: Halting) -> Halted:
        """What is stored of a halt.

        Nothing that is on the screen where that may show a secret, once the run has any.  Raises
        StoreUnavailable.
        """
        # A node may have been killed between asking and storing that the run is halted.
        await self.withdraw_all(run)
        shows_secrets = bool(run.secrets)
        if shows_secrets:
            why = why.without_screen()
        picture = None if shows_secrets else await self._picture(run, why)
        return Halted(
            step=run.step,
            reason=why.reason,
            detail=why.detail,
            at=now(),
            picture=picture,
            candidates=why.candidates,
            is_done=why.is_done,
            is_unknown=why.is_unknown,
            help_id=await self._asked(run, why),
        )

    async def request(self, run: StoredRun) -> HelpRequest | None:
        """The help request about a halt, if there is one.  Raises StoreUnavailable."""
        if run.halted is None or run.halted.help_id is None:
            return None
        with suppress(NotFound):
            return await self._help.get(run.organization_id, run.halted.help_id)
        return None

    async def answered_among(self, help_ids: Collection[UUID]) -> set[UUID]:
        """Which of these requests people have answered.  Raises StoreUnavailable."""
        return await self._help.answered_among(help_ids)

    async def withdraw(self, run: StoredRun, help_id: UUID | None) -> None:
        """Nobody need help any more."""
        if help_id is not None:
            with suppress(StoreError):
                await self._help.withdraw(_asker(run), help_id)

    async def withdraw_all(self, run: StoredRun) -> None:
        """Nobody need help a run with anything.  Raises StoreUnavailable."""
        if run.machine_id is not None:
            await self._help.withdraw_of_run(run.organization_id, run.machine_id, run.id)

    async def _asked(self, run: StoredRun, why: Halting) -> UUID | None:
        if run.machine_id is None:
            return None
        # Whoever sees the machine reads this, and what the screen shows needs more than that.
        words = why.without_screen().detail
        reason = f"Run {run.id} is halted at step {run.step}: {words}"
        new = NewHelp(
            machine_id=run.machine_id,
            kind="help",
            reason=reason[:LONGEST_REASON],
            timeout=max(run.halt_timeout, LEAST_HELP_SECONDS),
        )
        try:
            asked, _ = await self._help.ask(_asker(run), new, None, run.id)
        except WrongState as error:
            logger.warning("run=%s nobody is asked for help: %s", run.id, error)
            return None
        return asked.id

    async def _picture(self, run: StoredRun, why: Halting) -> str | None:
        """The id of a picture that is kept of the screen as it is, if it can be seen."""
        assert run.machine_id is not None  # noqa: S101  it has its turn
        taken: PictureTaken | Refusal | None = why.picture
        if taken is None:
            taken = await self._dispatcher.ask(
                TakeScreenshot(
                    organization_id=run.organization_id,
                    machine_id=run.machine_id,
                    wanted=PictureWanted(),
                )
            )
        if isinstance(taken, Refusal) or (media_type := media_type_of(taken.content)) is None:
            return None
        kept, _ = await self._pictures.add(
            run.organization_id, media_type, taken.content, run.machine_id, PICTURES_KEPT
        )
        return kept.id


def _asker(run: StoredRun) -> Principal:
    """Who asks: whoever began the run, who cannot answer."""
    return Principal(
        token_id=run.token_id,
        token_name=run.by,
        organization_id=run.organization_id,
        user_id=run.user_id,
        scopes=frozenset(),
        machine_id=None,
        expires_at=None,
        role=None,
    )
