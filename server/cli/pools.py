"""``farhand pool``: machines that are looked after together."""

from typing import Any

import click

from server.cli.client import Api, api_options, printable

COLUMNS = ("id", "name", "machines", "offline_after", "description", "created_by", "created_at")


@click.group()
def pool() -> None:
    """Pools: machines that are looked after together."""


@pool.command("add")
@click.argument("name")
@click.option("--description", help="What for.")
@click.option("--offline-after", type=int, help="Seconds before webhooks hear of a lost machine.")
@api_options
def add_pool(api: Api, name: str, description: str | None, offline_after: int | None) -> None:
    """Make a pool and print its id."""
    body = {"name": name, "description": description, "offline_after": offline_after}
    api.show_one(api.call("POST", "/v1/pools", body), "id")


@pool.command("list")
@api_options
def list_pools(api: Api) -> None:
    """List the pools, and how many machines are in each."""
    api.show(api.call_list("/v1/pools"), COLUMNS)


@pool.command("rename")
@click.argument("pool_name", metavar="POOL")
@click.argument("name")
@api_options
def rename_pool(api: Api, pool_name: str, name: str) -> None:
    """Give a pool another name; its id and its machines stay."""
    path = f"/v1/pools/{pool_id(api, pool_name)}"
    api.show_changed(api.call("PATCH", path, {"name": name}))


@pool.command("remove")
@click.argument("pool_name", metavar="POOL")
@api_options
def remove_pool(api: Api, pool_name: str) -> None:
    """Delete a pool; its machines stay."""
    api.call("DELETE", f"/v1/pools/{pool_id(api, pool_name)}")


@pool.command("put")
@click.argument("pool_name", metavar="POOL")
@click.argument("machine_ids", metavar="MACHINE...", nargs=-1, required=True)
@api_options
def put_machines(api: Api, pool_name: str, machine_ids: tuple[str, ...]) -> None:
    """Put machines in a pool."""
    change_all(api, machine_ids, {"action": "add_to_pool", "pool_id": pool_id(api, pool_name)})


@pool.command("take")
@click.argument("pool_name", metavar="POOL")
@click.argument("machine_ids", metavar="MACHINE...", nargs=-1, required=True)
@api_options
def take_machines(api: Api, pool_name: str, machine_ids: tuple[str, ...]) -> None:
    """Take machines out of a pool."""
    change_all(api, machine_ids, {"action": "remove_from_pool", "pool_id": pool_id(api, pool_name)})


def pool_id(api: Api, name: str) -> str:
    """The id of the pool of this name or id."""
    return pool_ids(api, [name])[0]


def pool_ids(api: Api, names: list[str] | tuple[str, ...]) -> list[str]:
    """The ids of the pools of these names or ids.  Raises a ClickException where one is none."""
    if not names:
        return []
    pools = api.call_list("/v1/pools")["items"]
    known = {each[field]: each["id"] for field in ("name", "id") for each in pools}
    if missing := [name for name in names if name not in known]:
        raise click.ClickException(f"there is no pool {missing[0]}: farhand pool add makes one")
    return [known[name] for name in names]


def change_all(api: Api, machine_ids: tuple[str, ...], change: dict[str, Any]) -> None:
    """Do the same to some machines; what could not be done to one is said of it."""
    answer = api.call("POST", "/v1/machines/bulk", {"machine_ids": [*machine_ids], **change})
    api.show_changed(answer)
    wrong = [each for each in answer["items"] if each["status"] != "done"]
    for each in wrong:
        click.echo(printable(f"{each['machine_id']}: {each['detail']}"), err=True)
    if wrong:
        raise click.exceptions.Exit(1)
