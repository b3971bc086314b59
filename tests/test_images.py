"""What builds the images of config/Containerfile where no registry of images is asked."""

import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
SCRIPT = PROJECT / ".ci" / "images"
CONTAINERFILE = (PROJECT / "config" / "Containerfile").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="it asks for root's rights first")
@pytest.mark.parametrize("missing", ["debootstrap", "buildah"])
def test_program_that_is_missing_is_named_before_anything_is_done(
    tmp_path: Path, missing: str
) -> None:
    for name in {"debootstrap", "buildah"} - {missing}:
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o700)
    (tmp_path / "dirname").symlink_to("/usr/bin/dirname")
    ended = subprocess.run(
        ["/bin/bash", str(SCRIPT)],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (f"images need {missing}: sudo apt-get install debootstrap buildah\n")


def test_every_base_and_every_image_is_made() -> None:
    script = SCRIPT.read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", CONTAINERFILE, re.MULTILINE)
    own = {name for _, name in stages}
    bases = re.search(r"^for base in (.*); do$", script, re.MULTILINE)
    targets = re.search(r"^for target in (.*); do$", script, re.MULTILINE)
    assert bases is not None
    assert targets is not None
    assert {*bases[1].split()} == {base for base, _ in stages} - own
    commands = re.findall(r"--target (\S+)", CONTAINERFILE)
    assert targets[1].split() == commands
