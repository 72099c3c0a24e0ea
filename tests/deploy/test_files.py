"""The other files of deploy/: what can be known of them without a machine to deploy to."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml  # type: ignore[import-untyped]

from greenroom.config.settings import ROWS
from tests.deploy.proxies import DEPLOY, replaced
from tests.needs import program
from tests.transport.process import ROOT

KNOWN = {row.variable for row in ROWS.values()}
OF_THE_PROXY = {"GREENROOM_SITE", "GREENROOM_UPSTREAM"}


def test_the_image_is_made_of_files_that_are_there_and_not_ignored() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    sources = {source for copied in copies for source in copied.split()}
    layers = {link.name for link in (ROOT / "greenroom").iterdir() if link.is_symlink() and link.is_dir()}
    assert {*layers, "greenroom", "pyproject.toml", "requirements.txt"} <= sources <= let_in
    assert all((ROOT / source).exists() for source in sources)


def test_the_image_does_not_run_as_root_and_watches_its_health() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    last_stage = lines[max(number for number, line in enumerate(lines) if line.startswith("FROM ")) :]
    assert "USER greenroom" in last_stage
    assert any(line.startswith("HEALTHCHECK") for line in last_stage)
    assert "/probes/readyz" in "\n".join(last_stage)


def test_every_variable_that_is_set_somewhere_is_one_that_the_server_knows() -> None:
    for name in ("Dockerfile", "compose.yaml", "greenroom.service", "nginx.conf", "Caddyfile"):
        used = set(re.findall(r"GREENROOM_[A-Z_]+", (DEPLOY / name).read_text()))
        assert used <= KNOWN | OF_THE_PROXY, name


def test_the_compose_file_builds_our_image_and_gives_it_time_to_drain() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    server = compose["services"]["greenroom"]
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    assert int(server["stop_grace_period"].removesuffix("s")) >= seconds_to_stop()
    assert set(compose["volumes"]) == {"conversations", "certificates"}


def test_the_unit_gives_the_server_time_to_drain() -> None:
    unit = (DEPLOY / "greenroom.service").read_text()
    found = re.search(r"^TimeoutStopSec=(\d+)$", unit, re.MULTILINE)
    assert found is not None
    assert int(found[1]) >= seconds_to_stop()


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "greenroom.service"
    unit.write_text(
        replaced((DEPLOY / "greenroom.service").read_text(), {"/opt/greenroom/bin/greenroom": program("true")})
    )
    done = subprocess.run([program("systemd-analyze"), "verify", str(unit)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def seconds_to_stop() -> float:
    """What a stop may take when everything takes as long as it is allowed to."""
    serving = tomllib.loads((ROOT / "hypercorn.toml").read_text())
    seconds = (ROWS["drain_seconds"].default, serving["graceful_timeout"], serving["shutdown_timeout"])
    return sum(float(each) for each in seconds)
