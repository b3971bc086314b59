"""How runs begin: from what was asked to what waits for its turn."""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from uuid import uuid4

from schemas.http.problems import InvalidRequestError
from schemas.runs.requests import NewRun
from server.errors import NotFound, WrongState
from server.fleet.reach import Reach
from server.identity.authentication import Principal
from server.runs.ending import RunEnding
from server.runs.values import checked
from server.secrets.sealing import Sealing, SecretKeyError
from server.store.runs.documents import StoredRun, StoredSecrets
from server.store.times import now
from server.trajectories.running import RunContent, RunContents

Check = Callable[[NewRun], Awaitable[None]]
"""Raises where the caller reaches no machine for a run."""


class RunBeginning:
    """Makes runs; ``woken`` is called where one may have got its turn."""

    def __init__(
        self,
        contents: RunContents,
        reach: Reach,
        sealing: Sealing,
        ending: RunEnding,
        woken: Callable[[], None],
    ) -> None:
        self._contents = contents
        self._reach = reach
        self._sealing = sealing
        self._ending = ending
        self._woken = woken

    async def content(self, principal: Principal, new: NewRun) -> RunContent:
        """What a run is to do.  Raises a validation error where that cannot be run."""
        organization_id = principal.organization_id
        field = "workflow_id" if new.workflow_id is not None else "trajectory_id"
        try:
            if new.workflow_id is not None:
                return await self._contents.main_of(organization_id, new.workflow_id)
            assert new.trajectory_id is not None  # noqa: S101  one of the two is given
            await self._reach.check_trajectory(principal, new.trajectory_id)
            return await self._contents.of(organization_id, new.trajectory_id)
        except NotFound as error:
            raise InvalidRequestError.single(("body", field), str(error), "not_found") from None
        except WrongState as error:
            raise InvalidRequestError.single(("body", field), str(error), "not_runnable") from None

    async def made(self, principal: Principal, new: NewRun, content: RunContent) -> StoredRun:
        """A new run, not stored yet.  Raises a validation error for values that do not fit."""
        secrets = new.sensitive_input_values
        checked(content.steps, content.input_schema, new.input_values, secrets)
        run = _new_run(principal, new, content)
        if not secrets:
            return run
        try:
            sealed = await self._sealing.seal(run.id, secrets)
        except SecretKeyError as error:
            raise WrongState(f"no secrets can be kept: {error}") from None
        return replace(
            run, secrets=sorted(secrets), sealed=StoredSecrets(sealed.key_id, sealed.content)
        )

    def stored(self, runs: Sequence[StoredRun]) -> None:
        """Tell whoever listens of runs that were stored, and have them looked at."""
        for run in runs:
            self._ending.tell(run)
        self._woken()


def _new_run(principal: Principal, new: NewRun, content: RunContent) -> StoredRun:
    trajectory = content.trajectory
    assert trajectory.content_hash is not None  # noqa: S101  what is approved has one
    return StoredRun(
        id=uuid4(),
        organization_id=principal.organization_id,
        workflow_id=trajectory.workflow_id,
        trajectory_id=trajectory.id,
        content_hash=trajectory.content_hash,
        machine_id=new.machine_id,
        pool_ids=new.pool_ids,
        priority=new.priority,
        halt_timeout=new.halt_timeout,
        input_values=new.input_values,
        step_count=len(content.steps),
        by=principal.token_name,
        token_id=principal.token_id,
        user_id=principal.user_id,
        created_at=now(),
        reservation=secrets.token_hex(32),
    )
