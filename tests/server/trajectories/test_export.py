from schemas.resources.trajectories import ExportQuery
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, collected
from tests.trajectories import TrajectoryLibrary, imported


async def test_export_is_of_one_organization(library: TrajectoryLibrary) -> None:
    for organization, name in ((ORGANIZATION, "ours"), (OTHER_ORGANIZATION, "theirs")):
        await library.create(organization, None, imported(name=name))
    text = b"".join(await collected(library.trajectories.export(ORGANIZATION, ExportQuery())))
    assert text.count(b"\n") == 1
    assert b'"ours"' in text
