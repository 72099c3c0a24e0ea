"""Every test module that opens a real server runs on both HTTP paths: our own connections, and Hypercorn's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.transport import paths


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if chosen := paths.of(metafunc.module):
        metafunc.parametrize("http_path", chosen, indirect=True)


# For all, although few are given a path: pytest forgets a fixture that nobody has asked for by the time it counts.
@pytest.fixture(autouse=True)
def http_path(request: pytest.FixtureRequest) -> Iterator[str]:
    paths.chosen = getattr(request, "param", paths.ALL[0])
    try:
        yield paths.chosen
    finally:
        paths.chosen = paths.ALL[0]
