"""Texts given through pipes, to those who take them and to those who do not."""

import os

from machine_client.desktop.wayland.clipboard.gifts import MOST_GIFTS, PATIENCE_SECONDS, Gifts
from tests.clock import Clock


def test_short_text_is_given_at_once_and_the_pipe_closed() -> None:
    gifts, (readable, writable) = Gifts(), os.pipe()
    gifts.begin(writable, b"text")
    assert (os.read(readable, 100), os.read(readable, 100)) == (b"text", b"")
    assert not gifts.waiting
    assert gifts.patience_milliseconds is None
    os.close(readable)


def test_long_text_is_given_as_it_is_taken() -> None:
    gifts, (readable, writable) = Gifts(Clock()), os.pipe()
    content = os.urandom(500_000)
    gifts.begin(writable, content)
    assert list(gifts.waiting) == [writable]
    assert gifts.patience_milliseconds == PATIENCE_SECONDS * 1000
    taken = b""
    while part := os.read(readable, 50_000):
        taken += part
        gifts.go_on()
    assert taken == content
    os.close(readable)


def test_who_takes_nothing_is_given_up() -> None:
    clock = Clock()
    gifts, (readable, writable) = Gifts(clock), os.pipe()
    gifts.begin(writable, bytes(500_000))
    clock.now += PATIENCE_SECONDS - 1
    gifts.go_on()
    assert gifts.waiting
    clock.now += 1
    gifts.go_on()
    assert not gifts.waiting
    os.close(readable)


def test_who_goes_in_the_middle_is_forgotten() -> None:
    gifts, (readable, writable) = Gifts(), os.pipe()
    gifts.begin(writable, bytes(500_000))
    os.close(readable)
    gifts.go_on()
    assert not gifts.waiting


def test_only_so_many_are_given_at_once_and_all_end_with_the_owner() -> None:
    gifts, pipes = Gifts(), [os.pipe() for _ in range(MOST_GIFTS + 1)]
    for _, writable in pipes:
        gifts.begin(writable, bytes(200_000))
    assert len(gifts.waiting) == MOST_GIFTS
    gifts.close()
    assert not gifts.waiting
    for readable, _ in pipes:
        os.close(readable)
