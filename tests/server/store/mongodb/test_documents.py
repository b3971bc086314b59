from uuid import UUID, uuid4

from server.store.mongodb.documents import own_id, scoped_id, shard_id


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
