"""Tools that record what this token does on a machine, as the steps of a trajectory."""

from uuid import UUID

from pydantic import Field

from server.mcp.arguments import MachineTool
from server.mcp.desk import Desk, Said


class StartRecording(MachineTool):
    """Record what you do on a machine from now on: each input becomes a step of a trajectory."""

    name = "start_recording"
    title = "Start a recording"
    destroys = False

    trajectory_name: str | None = Field(
        None, max_length=255, description="What the trajectory is called."
    )

    async def do(self, desk: Desk) -> Said:
        begun = await desk.recordings.start(self.machine, name=self.trajectory_name, of="me")
        return Said({"recording": str(begun.id), "trajectory": str(begun.trajectory_id)})


class StopRecording(MachineTool):
    """Stop a recording that start_recording began."""

    name = "stop_recording"
    title = "Stop a recording"
    destroys = False

    recording: UUID = Field(description="The recording that start_recording named.")

    async def do(self, desk: Desk) -> Said:
        ended = await desk.recordings.stop(self.recording)
        return Said({"trajectory": str(ended.trajectory_id), "steps": ended.steps})
