"""Our reader against h11: `python -m tests.http1.fuzz --cases 100000`.

What h11 refuses we must refuse, and what both accept we must read alike: anything else is a disagreement, and the run
fails. To be stricter than h11 is allowed; how often, and over what, is printed. And cutting the same bytes in another
way must change nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from hypothesis import HealthCheck, Phase, given, settings

from greenroom.transport.http1.limits import Limits
from tests.http1 import streams
from tests.http1.reading import Read, Request, read_all, read_by_h11

LIMITS = Limits()
SMALL = Limits(line=120, head=400, fields=6, chunk_line=20, trailers=40)


def verdict(pieces: list[bytes], limits: Limits = LIMITS) -> str:
    """How the two compare; raises `AssertionError` if we let more through, or read it in another way."""
    ours, theirs = read_all(pieces, limits), read_by_h11(pieces, limits)
    assert ours == read_all([b"".join(pieces)], limits), "the outcome depends on how the bytes are cut"
    assert len(ours.requests) <= len(theirs.requests), "we began a request that h11 did not"
    for mine, other in zip(ours.requests, theirs.requests, strict=False):
        _compare(mine, other)
    if theirs.refused:
        assert ours.refused or ours.upgrade or _stopped_short(ours, theirs), "h11 refuses, and we wait"
    return _kind(ours, theirs)


def _compare(mine: Request, other: Request) -> None:
    assert (mine.method, mine.target, mine.version) == (other.method, other.target, other.version)
    assert [_plain(field) for field in mine.headers] == [_plain(field) for field in other.headers]
    assert mine.keep_alive == other.keep_alive
    assert other.complete or not mine.complete, "we found an end that h11 did not"
    assert other.body.startswith(mine.body), "we read another body"
    assert mine.body == other.body or not mine.complete, "we read less of a body"


def _plain(field: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    name, value = field
    # h11 hands this one on in lower case, the only way it may be spelled.
    return (name, value.lower()) if name == b"transfer-encoding" else field


def _stopped_short(ours: Read, theirs: Read) -> bool:
    """We had ended the connection before h11 came to what it refused."""
    return bool(ours.requests) and ours.requests[-1].complete and not ours.requests[-1].keep_alive


def _kind(ours: Read, theirs: Read) -> str:
    if ours.upgrade:
        return "handed over to Hypercorn"
    if ours.refused and theirs.refused:
        return "refused by both"
    if ours.refused:
        return f"refused by us alone: {ours.refused}, {ours.reason}"
    if ours.requests and all(each.complete for each in ours.requests):
        return "read alike, to the end"
    return "read alike, unfinished"


def fuzz(cases: int) -> Counter[str]:
    """So many cases, half of them with limits small enough to be met."""
    seen: Counter[str] = Counter()
    generate = settings(
        max_examples=cases,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )

    @generate
    @given(streams.pieces)
    def run(pieces: list[bytes]) -> None:
        limits = (LIMITS, SMALL)[len(pieces) % 2]
        seen[verdict(pieces, limits)] += 1

    run()
    return seen


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    cases = parser.parse_args().cases
    try:
        seen = fuzz(cases)
    except AssertionError as error:
        print(f"a disagreement: {error}", *getattr(error, "__notes__", ()), sep="\n")
        return 1
    print(f"{seen.total()} cases, no disagreement that lets more through than h11 does:")
    for kind, count in seen.most_common():
        print(f"{count:>9} {kind}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
