from schemas.resources.trajectories import ExportQuery
from tests.store import ORGANIZATION, OTHER_ORGANIZATION, collected, opened
from tests.trajectories import TrajectoryLibrary, imported


async def test_export_is_of_one_organization(mongodb: str, database_name: str) -> None:
    async with opened(mongodb, database_name) as database:
        library = TrajectoryLibrary(database)
        for organization, name in ((ORGANIZATION, "ours"), (OTHER_ORGANIZATION, "theirs")):
            await library.create(organization, None, imported(name=name))
        text = b"".join(await collected(library.trajectories.export(ORGANIZATION, ExportQuery())))
        assert text.count(b"\n") == 1
        assert b'"ours"' in text
