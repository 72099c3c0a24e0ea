"""A process that is killed in the middle of its work loses nothing that it said it had kept, and doubles nothing."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from greenroom.persistence.doctor import examine
from tests.persistence.builders import opened

ROOT = Path(__file__).parents[2]
ROUNDS = 10

_WRITE_UNTIL_KILLED = """
import sys
from pathlib import Path
from greenroom.persistence.records import Turn
from greenroom.persistence.speedict_store import SpeedictStore
store = SpeedictStore(Path(sys.argv[1]), max_open=2)
NOISE = "x" * 4000  # a flush every hundred turns or so, and now and then a kill in the middle of one
number = int(sys.argv[2])
while True:
    # The turn before is sent again, as a client does that has heard nothing.
    for each in (number - 1, number):
        for name in ("ann", "bob", "cid") if each % 50 == 0 else ("ann",):
            user = store.user(name)
            if user.get_conversation("c") is None:
                user.create_conversation("c", at=1)
            if each >= 0:
                user.append_turn(Turn(id=str(each), conversation_id="c", tool="t", outputs=NOISE, started_at=each))
    print(number, flush=True)
    number += 1
"""


def test_no_turn_that_was_acknowledged_is_lost_and_none_is_doubled(tmp_path: Path) -> None:
    chance = random.Random(20)
    acknowledged = -1
    for _ in range(ROUNDS):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITE_UNTIL_KILLED, str(tmp_path), str(acknowledged + 1)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
        ) as writer:
            assert writer.stdout is not None
            for _ in range(chance.randrange(1, 400)):
                acknowledged = int(writer.stdout.readline())
            writer.kill()
            # What it still said before it died counts too; a line that it did not finish does not.
            rest = writer.stdout.read().rpartition(b"\n")[0].split()
            acknowledged = int(rest[-1]) if rest else acknowledged
        assert [each.problems for each in examine(tmp_path) if not each.healthy] == []
        with opened(tmp_path) as store:
            turns = store.user("ann").turns("c", limit=100_000, newest_first=False)
            ids = [int(turn.id) for turn in turns]
            assert ids in (list(range(acknowledged + 1)), list(range(acknowledged + 2)))
            assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))
            conversation = store.user("ann").get_conversation("c")
            assert conversation is not None
            assert conversation.turn_count == len(turns)
    checkups = examine(tmp_path)
    assert {each.user_id for each in checkups} == {"ann", "bob", "cid"}
    assert all(each.healthy and not each.lost_turns for each in checkups)
