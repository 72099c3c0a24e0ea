"""Makes docs/benchmarks.md and docs/benchmark.svg from the file of results: `python -m bench.report`.

Nothing on that page is typed by hand: a figure that is not in the file is not on the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.judging import INCUMBENT_TURNS, judge
from bench.peers.install import ROOT
from bench.peers.table import STOCK
from bench.picture import picture
from bench.run import RESULTS
from bench.tables import NAMES, Table, tables

PAGE, PICTURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmark.svg"

OPENING = """\
# Greenroom beside its peers

<!-- Written by `python -m bench.report`; edit bench/report.py instead. -->

![CPU, memory and latency of Greenroom and its peers](benchmark.svg)
"""

METHOD = f"""\
## How it is measured

- Every server is a process of its own, and all of them run at the same time. One is busy at a time, on a core of its
  own; the client has the other core. Rounds are interleaved, in a new random order each time, so that whatever the
  machine does meanwhile happens to everybody. The figure is the median of the rounds, with the least and the most.
- CPU is what the kernel says of the server's process and everything it has started, user and system. It is the figure
  to compare: it depends least on what else the machine does. Rates and latencies are those of a closed loop of 32
  kept-alive connections, so they say how it feels when a server is busy, not how fast it is when it is not.
- Every server is warmed up before each scenario, longest before the first. That matters most for Node: a call costs the
  TypeScript SDK v1 less than half as much after four seconds of calls as in the first one.
- Every response is checked: status, JSON-RPC id, content, and for notifications that each one came, once and in order.
- The client is one thread that writes prepared bytes and reads with epoll; it costs less than any of the servers.
- Greenroom runs as `greenroom serve` starts it: request log, validation of arguments and results, host and origin
  checks and the journal of turns are on. What is called are tools of the built-in demo workflow; each peer has the
  same three. `recall` takes one text and gives a text and a structured result; at Greenroom that is a turn of the
  session's actor. `greet` takes nothing and gives a text. `countdown` reports its progress 100 times.
- The demo has nothing to keep on disk. `execute_command` and the agent turns are of a workflow folder, so there every
  turn is in the store before its answer leaves.
- A call in a session is of the older era (2025-11-25) because every peer speaks it. A call without a session is of the
  newer era (2026-07-28), where a peer speaks that; the TypeScript SDK v1 gets it in the older era, with a server and a
  transport for the one call, as its examples do.
- A session set-up is `initialize`, `notifications/initialized` and DELETE. A session of the product is what
  Greenroom's tool `initialize` opens: an actor, and a handle that outlives the connection.
- An idle session is one that was opened and has had one call. 2,000 of them are opened on a fresh server, and its
  resident memory is compared. For the latencies among idle sessions there are 5,000.
- "As shipped" is what a library's own `run` does when nothing is said, its log included. "JSON" is the same with JSON
  answers instead of streams. The SDK on uvloop also has httptools and no log at all: the most that can be had of it.
- The agent turns have a stub for a model, in a process of its own, which answers after the time that is given. The
  server that this one replaces was measured at {INCUMBENT_TURNS:g} turns per second at 200 ms.

## How to run it

```
make bench                                # everything, about nine minutes
make bench ARGS="--quick"                 # a look, not a measurement
make bench ARGS="--only call,setup --peers greenroom,sdk-uvloop"
python -m bench.report                    # this page and its picture, from the last run
```

Peers are installed on demand under `.build/bench/`, each in an environment of its own with the exact versions of the
files in `bench/peers/`; one that cannot be installed is left out, and the reason is printed. It needs Linux, two cores
and about 4 GB of free memory; Node and npm for the TypeScript peers.
"""


def page(results: Mapping[str, Any]) -> str:
    return "\n".join([OPENING, *_where(results), METHOD, *_targets(results), *_figures(results)])


def _where(results: Mapping[str, Any]) -> Iterator[str]:
    machine = results["machine"]
    if results["quick"]:
        yield "**From a quick run: a look, not a measurement.**\n"
    yield (
        f"Measured on {machine['date']}: {machine['cores']} cores of {machine['cpu']}, {machine['memory_gb']} GB, "
        f"{machine['system']}, Python {machine['python']}. "
        f"The load average was {machine['load']:g} before it began, and should be close to 0"
        f"{_afterwards(machine)}.\n"
    )
    yield from _markdown(Table("", ("environment", "versions"), list(results["versions"].items())))
    for name, reason in results["skipped"].items():
        yield f"Left out: {NAMES[name]}, because {_one_line(reason)}\n"


def _afterwards(machine: Mapping[str, Any]) -> str:
    """The run itself keeps between one core and two busy; what is beyond that came from somebody else."""
    if "load_after" not in machine:
        return ""
    return f"; it was {machine['load_after']:g} at the end, where the run's own share is 1 to 2"


def _targets(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## What was aimed at\n"
    rows = [(each.claim, each.figure or "-", each.word.lower()) for each in judge(results)]
    yield from _markdown(Table("", ("aim", "measured", ""), rows))


def _figures(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## All figures\n"
    if STOCK not in results["skipped"]:
        yield "`stock HTTP` is Greenroom with `GREENROOM_HTTP=stock`: Hypercorn's own HTTP/1.1 instead of ours.\n"
    for table in tables(results):
        yield f"### {table.title[0].upper()}{table.title[1:]}\n"
        yield from _markdown(table)


def _markdown(table: Table) -> Iterator[str]:
    yield _cells(table.headings)
    # Figures stand to the right, sentences to the left.
    others = "---:" if len(table.headings) > 3 else "---"
    yield f"|---|{'|'.join([others] * (len(table.headings) - 1))}|"
    for row in table.rows:
        yield _cells((*row, *[""] * (len(table.headings) - len(row))))
    yield ""


def _cells(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(_one_line(cell).replace('|', '/') for cell in cells)} |"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def write(results: Mapping[str, Any], page_path: Path = PAGE, picture_path: Path = PICTURE) -> None:
    page_path.parent.mkdir(parents=True, exist_ok=True)
    page_path.write_text(page(results))
    picture_path.write_text(picture(results))


def main() -> int:
    if not RESULTS.exists():
        print(f"There is no {RESULTS.relative_to(ROOT)} yet: run `make bench` first.", file=sys.stderr)
        return 1
    write(json.loads(RESULTS.read_text()))
    print(f"wrote {PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
