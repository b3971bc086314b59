"""``farhand webhook``: addresses that are told what happens, and what was posted to them."""

import time
from typing import Any, Final

import click

from server.cli.client import Api, api_options
from server.cli.pools import pool_ids

COLUMNS = ("id", "url", "events", "description", "dropped", "created_by", "created_at")
DELIVERY_COLUMNS = (
    *("id", "event", "state", "attempts", "status", "error", "created_at", "next_attempt_at"),
)

_TEST_SECONDS: Final = 20.0
_ASK_SECONDS: Final = 0.5


@click.group()
def webhook() -> None:
    """Webhooks: addresses that are told what happens."""


@webhook.command("create")
@click.argument("address", metavar="URL")
@click.option(
    "--event", "events", multiple=True, required=True, help="Such as machine_offline; or more."
)
@click.option("--pool", "pools", multiple=True, help="Of its machines alone; again for more.")
@click.option("--description", help="What for.")
@api_options
def create_webhook(
    api: Api,
    address: str,
    events: tuple[str, ...],
    pools: tuple[str, ...],
    description: str | None,
) -> None:
    """Make a webhook and print the secret that its deliveries are signed with."""
    given = {"url": address, "events": events, "description": description}
    body = {**given, "pool_ids": pool_ids(api, pools)}
    made = api.call("POST", "/v1/webhooks", body)
    click.echo(f"webhook {made['id']}", err=True)
    api.show_one(made, "secret")


@webhook.command("list")
@api_options
def list_webhooks(api: Api) -> None:
    """List the webhooks."""
    api.show(api.call_list("/v1/webhooks"), COLUMNS)


@webhook.command("show")
@click.argument("webhook_id", metavar="ID")
@api_options
def show_webhook(api: Api, webhook_id: str) -> None:
    """Show one webhook."""
    found = api.call("GET", f"/v1/webhooks/{webhook_id}")
    api.show({"items": [found], "total": 1}, COLUMNS)


@webhook.command("remove")
@click.argument("webhook_id", metavar="ID")
@api_options
def remove_webhook(api: Api, webhook_id: str) -> None:
    """Remove a webhook; what waits for it is not posted any more."""
    api.call("DELETE", f"/v1/webhooks/{webhook_id}")


@webhook.command("test")
@click.argument("webhook_id", metavar="ID")
@api_options
def test_webhook(api: Api, webhook_id: str) -> None:
    """Post a test to a webhook, and say how that went."""
    sent = api.call("POST", f"/v1/webhooks/{webhook_id}/test")
    give_up_at = time.monotonic() + _TEST_SECONDS
    while not _was_tried(sent) and time.monotonic() < give_up_at:
        time.sleep(_ASK_SECONDS)
        items = api.call("GET", f"/v1/webhooks/{webhook_id}/deliveries")["items"]
        sent = next((each for each in items if each["id"] == sent["id"]), sent)
    if sent["state"] != "delivered":
        raise click.ClickException(sent["error"] or "it was not answered yet")
    click.echo(f"delivered: {sent['status']}", err=True)


@webhook.command("deliveries")
@click.argument("webhook_id", metavar="ID")
@api_options
def list_deliveries(api: Api, webhook_id: str) -> None:
    """List what was and will be posted to a webhook."""
    api.show(api.call_list(f"/v1/webhooks/{webhook_id}/deliveries"), DELIVERY_COLUMNS)


@webhook.command("resend")
@click.argument("webhook_id", metavar="ID")
@click.argument("delivery_id", metavar="DELIVERY")
@api_options
def resend_delivery(api: Api, webhook_id: str, delivery_id: str) -> None:
    """Post something again, under the same id."""
    path = f"/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/resend"
    api.show_changed(api.call("POST", path))


def _was_tried(delivery: dict[str, Any]) -> bool:
    return delivery["status"] is not None or delivery["error"] is not None
