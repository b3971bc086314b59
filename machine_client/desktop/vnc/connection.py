"""One connection to a VNC server, on which somebody listens all the time.

A thread of its own reads: whoever pastes what was copied here asks for it when they like.
"""

import itertools
import logging
import ssl
import struct
import threading
import time
from collections.abc import Callable

from machine_client.concurrency.threads import daemon_thread
from machine_client.desktop.base import DesktopError, DesktopLost, InjectionUnavailable
from machine_client.desktop.vnc.address import VncServer
from machine_client.desktop.vnc.channel import STUCK_SECONDS, Channel
from machine_client.desktop.vnc.rfb import client_messages as ours
from machine_client.desktop.vnc.rfb.conversation import Conversation
from machine_client.desktop.vnc.rfb.parsing import AccessError, ProtocolError
from machine_client.desktop.vnc.rfb.security import Credentials

OPEN_SECONDS = 5.0
"""For a server to let us in."""
ANSWER_SECONDS = 20.0
"""For a server to answer; a connection on which it does not is given up."""

MOST_ANSWERS = 4
"""How many a server may need until one of them has pixels in it."""

logger = logging.getLogger(__name__)


class VncConnection:
    """A server that has let us in.  Raises InjectionUnavailable.

    ``said`` is what it has told; look at it within ``changed``, which is notified of every change.
    Everything but `close` may raise DesktopLost.
    """

    def __init__(self, server: VncServer, pictures: tuple[int, ...] = (), *, told: bool) -> None:
        """``told`` is to be told of changes of the screen and the pointer without asking."""
        self._server = server
        self._lost: str | None = None
        self._is_told = told
        self._updates_asked_for = 0
        self._numbers = itertools.count(1)
        self._one_at_a_time = threading.Lock()
        self.changed = threading.Condition()
        self.said = Conversation(Credentials(server.password()), pictures, time.monotonic)
        try:
            self._channel = Channel(server.host, server.port, OPEN_SECONDS)
        except OSError as error:
            raise InjectionUnavailable(
                f"The VNC server {server} cannot be reached: {_sentence(error)}"
            ) from error
        try:
            self._be_let_in()
        except BaseException:
            self._channel.close()
            raise
        self._channel.set_timeout(STUCK_SECONDS)
        daemon_thread(self._listen, "vnc").start()
        # What it can do beyond the RFC it says before it answers this.
        try:
            self.ask_for_update(seconds=OPEN_SECONDS)
            if told and self.said.has_fences:
                self._ask_to_be_told()
        except DesktopLost as error:
            self.close()
            raise InjectionUnavailable(str(error)) from error

    def send(self, data: bytes) -> None:
        """Say something, in one piece."""
        self.check()
        try:
            self._channel.send(data)
        except OSError as error:
            self._lose(f"takes nothing any more: {_sentence(error)}")
            self.check()

    def confirm(self) -> None:
        """Wait until the server has read all that was sent."""
        if not self.said.has_fences:
            if self.said.is_qemu:
                self._have_encodings_answered()
            else:
                self.ask_for_update()
            return
        payload = struct.pack(">I", next(self._numbers) & 0xFFFFFFFF)
        with self.changed:
            self.said.unanswered_fences.add(payload)
        self.send(ours.fence(ours.FENCE_REQUEST | ours.FENCE_BLOCK_BEFORE, payload))
        with self.changed:
            self.wait_for(lambda: payload not in self.said.unanswered_fences)

    def _have_encodings_answered(self) -> None:
        """What QEMU does at once, and its pixels may wait for seconds while nothing changes."""
        with self._one_at_a_time:
            with self.changed:
                before = self.said.encodings_answered
                self.said.encodings_asked += 1
            self.send(self.said.our_encodings)
            with self.changed:
                self.wait_for(lambda: self.said.encodings_answered > before)

    def ask_for_update(self, *, seconds: float = ANSWER_SECONDS) -> None:
        """Have the server answer, with anything: it has read then what was sent before.

        Only where nobody asked to be told: that answer could be taken for this one.
        """
        self._take_update(seconds, ours.update_request(0, 0, 1, 1, incremental=False))

    def ask_for_pixels(self, *, everything: bool) -> None:
        """Have the canvas be as the screen is now; ``everything`` is that it shows nothing yet."""
        with self.changed:
            painted, (width, height) = self.said.painted, self.said.size
        all_news = ours.update_request(0, 0, width, height, incremental=True)
        asked = [ours.update_request(0, 0, width, height, incremental=False)]
        if not everything:
            # One pixel in any case: else nothing is answered where nothing has changed.
            asked = [all_news, ours.update_request(0, 0, 1, 1, incremental=False)]
        for _ in range(MOST_ANSWERS):
            self._take_update(ANSWER_SECONDS, *asked)
            if self.said.painted != painted:
                return
            # It told of its screens alone, as TigerVNC does; the pixels wait for a request.
            # QEMU sends them once it has looked at the screen, without another one.
            asked = [] if self.said.is_qemu else [all_news]
        raise DesktopError("screen_unavailable", "The VNC server sends no pixels")

    def _take_update(self, seconds: float, *requests: bytes) -> None:
        with self._one_at_a_time:
            with self.changed:
                before = self.said.updates
                self.said.asked_for_updates(len(requests))
            self.send(b"".join(requests))
            with self.changed:
                self.wait_for(lambda: self.said.updates > before, seconds)

    def wait_for(self, comes: Callable[[], bool], seconds: float = ANSWER_SECONDS) -> None:
        """Wait, within ``changed``, for something that the server says."""
        self.changed.wait_for(lambda: comes() or self._lost is not None, seconds)
        if comes():
            return
        self.check()
        self._lose(f"has not answered for {seconds:g} s")
        self.check()

    def close(self) -> None:
        """End it; safe when it has ended, and twice."""
        self._lose("is not used any more")

    def check(self) -> None:
        """Raise DesktopLost where it has ended."""
        if self._lost is not None:
            raise DesktopLost(f"The VNC server {self._server} {self._lost}")

    def _lose(self, why: str) -> None:
        with self.changed:
            if self._lost is None:
                self._lost = why
            self.changed.notify_all()
        self._channel.end()

    def _be_let_in(self) -> None:
        deadline = time.monotonic() + OPEN_SECONDS
        try:
            while not self.said.is_open:
                self._channel.set_timeout(max(0.01, deadline - time.monotonic()))
                self._hear(self._channel.receive())
        except TimeoutError:
            why = f"says nothing, or not enough, within {OPEN_SECONDS:g} s: is it one?"
        except (ProtocolError, AccessError) as error:
            why = f"cannot be used: {error}"
        except ssl.SSLError as error:
            why = f"cannot be trusted, or not encrypted: {_sentence(error)}"
        except OSError as error:
            why = f"ended the connection: {_sentence(error)}"
        else:
            return
        raise InjectionUnavailable(f"The VNC server {self._server} {why}")

    def _hear(self, data: bytes) -> None:
        """Take what came, and say what it asks for."""
        if not data:
            raise ConnectionError("without a word")
        with self.changed:
            self.said.receive(data)
            outgoing = self.said.take_outgoing()
            self.changed.notify_all()
        if outgoing:
            self._channel.send(outgoing)
        if self.said.tls is not None:
            verified = self.said.tls.verified
            self._channel.start_tls(verified=verified, ca_file=self._server.ca_file)
            self.said.tls_begun()

    def _listen(self) -> None:
        try:
            while self._lost is None:
                try:
                    data = self._channel.receive()
                except TimeoutError:
                    continue  # It has nothing to say.
                self._hear(data)
                if self._updates_asked_for and self.said.updates >= self._updates_asked_for:
                    self._ask_to_be_told()
        except (ProtocolError, AccessError) as error:
            self._lose(f"was left: {error}")
            logger.warning("the VNC server was left: %s", error)
        except OSError as error:
            self._lose(f"ended the connection: {_sentence(error)}")
        except Exception:
            self._lose("was left: the machine client made a mistake")
            logger.exception("what the VNC server said could not be read")
        finally:
            self._channel.close()
            with self.changed:
                self.said.close()

    def _ask_to_be_told(self) -> None:
        """Have an answer to come, which is about more than pixels: the size, the pointer."""
        with self.changed:
            self._updates_asked_for = self.said.updates + 1
            self.said.asked_for_updates(1)
        self._channel.send(ours.update_request(0, 0, 1, 1, incremental=True))


def _sentence(error: OSError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message
    return error.strerror or str(error)
