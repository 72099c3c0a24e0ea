"""Every test module that opens a real server runs on both HTTP paths: our own connections, and Hypercorn's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.transport import paths


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if chosen := paths.of(metafunc.module):
        metafunc.fixturenames.append("http_path")
        metafunc.parametrize("http_path", chosen, indirect=True)


@pytest.fixture
def http_path(request: pytest.FixtureRequest) -> Iterator[str]:
    paths.chosen = request.param
    try:
        yield request.param
    finally:
        paths.chosen = paths.ALL[0]
