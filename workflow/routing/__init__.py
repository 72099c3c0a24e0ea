"""From a sentence to a command and its parameters, without a model to train, to download or to run.

`Router` decides which command is meant: by `names`, or by meaning (`head` over the word vectors of `table`), with a
calibrated `confidence` and an honest "none of these". `extract` then finds parameters in the words. Both are pure
and know nothing of workflows, turns or Trio: commands and parameters come in as the values defined here. numpy is
imported when a sentence is first routed by meaning.
"""

from greenroom.workflow.routing.extract import extract
from greenroom.workflow.routing.parameters import Extracted, Kind, Parameter
from greenroom.workflow.routing.reading import Value
from greenroom.workflow.routing.router import Router, router_for
from greenroom.workflow.routing.values import Candidate, Candidates, Command, How, OutOfScope, Routed, Routing

__all__ = [
    "Candidate",
    "Candidates",
    "Command",
    "Extracted",
    "How",
    "Kind",
    "OutOfScope",
    "Parameter",
    "Routed",
    "Router",
    "Routing",
    "Value",
    "extract",
    "router_for",
]
