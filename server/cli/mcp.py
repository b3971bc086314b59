"""``farhand mcp``: Farhand's tools for a model, for a host that starts programs."""

import asyncio
import sys
from contextlib import suppress

import click

from server.cli.client import Api, api_options


@click.command()
@api_options
def mcp(api: Api) -> None:
    """Give an MCP host the tools of a server, over standard input and output.

    The host starts this command itself: docs/guide/mcp.md says what to tell it.
    """
    if not api.is_token_given:
        raise click.UsageError(
            "give a token of the model's own, with --token or FARHAND_TOKEN: farhand token create "
            "--role agent makes one, and an administrator's is none to give away"
        )
    # Imported late: it needs farhand[mcp].
    from server.mcp.stdio import serve  # noqa: PLC0415

    if sys.stdin.isatty():
        click.echo("waiting for messages of an MCP host, which would have started this", err=True)
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(api.url, api.token))
    except ValueError as error:
        raise click.UsageError(str(error)) from None
