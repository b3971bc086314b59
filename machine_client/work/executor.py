"""The one thread that touches the desktop, one command at a time, and another for the journal.

A command can take a minute; what the server asks about others meanwhile is answered at once.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from queue import Empty, SimpleQueue
from uuid import UUID

from machine_client.concurrency.threads import daemon_thread
from machine_client.journal.journal import Journal, JournalError
from machine_client.system.clock import boottime_seconds
from machine_client.work import orders
from machine_client.work.batch import Eyes
from machine_client.work.worker import Injector, Worker
from schemas.link.messages import Input, Resolve

logger = logging.getLogger(__name__)

STOP_SECONDS = 5.0
SETTLE_AFTER_SECONDS = 0.05


class Executor:
    """Carries out commands in the order in which they are begun.

    ``report`` takes what ended; it is called from this executor's threads.  Whatever happens to a
    command, exactly one CommandEnded is reported for it; where the journal fails, that as well.
    """

    def __init__(
        self,
        journal: Journal,
        injector: Injector,
        eyes: Eyes,
        report: Callable[[orders.ExecutorResult], None],
    ) -> None:
        self._journal = journal
        self._worker = Worker(journal, injector, eyes, boottime_seconds)
        self._report = report
        self._interrupts: set[UUID] = set()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = daemon_thread(self._work, "executor")
        self._thread.start()
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._context = copy_context()

    def submit(self, effect: orders.ExecutorEffect) -> None:
        """Do what the session has decided; what comes of it is reported."""
        match effect:
            case orders.BeginCommand(command, begin_by):
                self._jobs.put(lambda: self._carry_out(command, begin_by))
            case orders.LookUpCommand(question):
                self._do_beside(lambda: self._look_up(question))
            case orders.ExpireCommand(command):
                self._do_beside(lambda: self._report(self._worker.expire(command)))
            case orders.MarkJournal():
                self._do_beside(lambda: self._report(orders.JournalMarked(*self._journal.mark())))
            case orders.ReleaseHeld():
                self._jobs.put(self._release_held)
            case orders.InterruptCommands(request):
                self._interrupts.add(request)
                self._worker.injector.interrupt()
                self._jobs.put(lambda: self._end_interrupt(request))

    def note_progress(self) -> None:
        """Have the journal know how far a running command has come; call now and then."""
        if self._worker.is_injecting:
            self._do_beside(self._worker.note_progress)

    def use(self, injector: Injector) -> None:
        """Inject through another injector from the next command on."""

        def change() -> None:
            before, self._worker.injector = self._worker.injector, injector
            before.close()

        self._jobs.put(change)

    def stop(self) -> None:
        """Interrupt what runs, release what is held, close injector and journal."""
        self._worker.injector.interrupt()
        self._jobs.put(self._close_injector)
        self._jobs.put(self._beside.shutdown)
        self._jobs.put(self._journal.close)
        self._jobs.put(None)
        self._thread.join(STOP_SECONDS)

    def _carry_out(self, command: Input, begin_by: float) -> None:
        self._report(self._worker.carry_out(command, begin_by))
        if (trouble := self._journal.trouble) is not None:
            self._report(orders.JournalFailed(trouble))

    def _look_up(self, question: Resolve) -> None:
        try:
            self._report(self._worker.look_up(question))
        except JournalError as error:
            self._report(orders.JournalFailed(str(error), question.command_id))

    # The injector may be another one by the time when these are done.

    def _release_held(self) -> None:
        self._worker.injector.release_all()
        if self._interrupts:
            # One came meanwhile, and the injector forgot it by this: it is to end what comes now.
            self._worker.injector.interrupt()

    def _end_interrupt(self, request: UUID) -> None:
        self._interrupts.discard(request)
        self._release_held()
        self._report(orders.CommandsInterrupted(request))

    def _close_injector(self) -> None:
        self._worker.injector.close()

    def _work(self) -> None:
        while (job := self._next_job()) is not None:
            self._do(job)

    def _do_beside(self, job: Callable[[], None]) -> None:
        self._beside.submit(self._context.run, self._do, job)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except JournalError as error:
            self._report(orders.JournalFailed(str(error)))
        except Exception:  # the threads must outlive every mistake, and never silently
            logger.exception("a job of the executor failed")

    def _next_job(self) -> Callable[[], None] | None:
        """The next thing to do; the journal's own work is done while there is none."""
        try:
            return self._jobs.get(timeout=SETTLE_AFTER_SECONDS)
        except Empty:
            self._do(self._journal.settle)
            return self._jobs.get()
