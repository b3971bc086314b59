"""Threads in the context of who starts them."""

import logging
import queue

from machine_client.concurrency.threads import daemon_thread
from schemas.programs.log_lines import TextLine, be_about


def test_what_a_thread_logs_is_about_the_same_machine() -> None:
    lines: queue.Queue[str] = queue.Queue()
    record = logging.makeLogRecord({"msg": "ready"})

    def begin() -> None:
        be_about(machine="left")
        thread = daemon_thread(lambda: lines.put(TextLine("%(message)s").format(record)), "teller")
        assert (thread.name, thread.daemon) == ("teller", True)
        thread.start()
        thread.join()

    other = daemon_thread(begin, "beginner")
    other.start()
    other.join()
    assert lines.get() == "machine=left ready"
    # It was in that thread's own context.
    assert TextLine("%(message)s").format(record) == "ready"
