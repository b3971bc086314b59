"""Lets time pass, in both kinds of program."""

from asyncio import sleep as async_sleep
from time import sleep

__all__ = ["async_sleep", "sleep"]
