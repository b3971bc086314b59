from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import bson

from server.store.mongodb.documents import (
    CODEC_OPTIONS,
    QUICK_CODEC_OPTIONS,
    encoded,
    fields_of,
    own_id,
    scoped_id,
    shard_id,
    uuid_text,
)


@dataclass
class Thing:
    """What is stored of one, as far as this version knows."""

    name: str
    colour: str = "grey"


def test_what_only_a_later_version_stores_stays_unread() -> None:
    assert fields_of(Thing, {"_id": 1, "name": "a", "shape": "round"}) == {"name": "a"}


def test_scoped_ids_sort_as_their_own_ids_do() -> None:
    organization = uuid4()
    ids = [UUID(int=2**127), UUID(int=1), UUID(int=2**64)]
    scoped = sorted(scoped_id(organization, one) for one in ids)
    assert [own_id(one) for one in scoped] == sorted(ids, key=str)
    assert scoped_id(uuid4(), ids[0]) != scoped_id(uuid4(), ids[0])


def test_shards_of_all_machines_have_ids_of_their_own() -> None:
    organizations = uuid4(), uuid4()
    ids = {shard_id(of, name, shard) for of in organizations for name in "ab" for shard in (0, 1)}
    assert len(ids) == 8


def test_text_of_an_id_is_that_of_its_uuid() -> None:
    for one in (uuid4(), UUID(int=0), UUID(int=2**128 - 1)):
        assert uuid_text(one.bytes) == str(one)


def test_filter_says_the_same_to_a_collection_that_decodes_quickly() -> None:
    wanted = {"id": uuid4(), "$or": [{"time": datetime(2024, 5, 6, tzinfo=UTC)}]}
    kept = bson.encode({"wanted": encoded(wanted)}, codec_options=QUICK_CODEC_OPTIONS)
    assert bson.decode(kept, codec_options=CODEC_OPTIONS) == {"wanted": wanted}
