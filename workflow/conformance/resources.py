"""The resources, fixed ones and those that a template describes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import unquote

from greenroom.config.errors import ResourceNotFound
from greenroom.workflow.conformance.samples import RED_PIXEL_PNG
from greenroom.workflow.values import BlobContents, Contents, Resource, ResourceTemplate, TextContents

RESOURCES: tuple[Resource, ...] = (
    Resource("test://static-text", "static-text", "A text that never changes.", "text/plain"),
    Resource("test://static-binary", "static-binary", "An image that never changes.", "image/png"),
    Resource("test://watched-resource", "watched-resource", "A text that clients may subscribe to.", "text/plain"),
)

CONTENTS: Mapping[str, Contents] = {
    one.uri: one
    for one in (
        TextContents("test://static-text", "This is the content of the static text resource."),
        BlobContents("test://static-binary", RED_PIXEL_PNG, "image/png"),
        TextContents("test://watched-resource", "Watched resource content"),
    )
}

TEMPLATE = ResourceTemplate(
    "test://template/{id}/data", "template", "Data that names the id it was asked for.", "application/json"
)
TEMPLATED_URI = re.compile(r"test://template/([^/]+)/data")


def read(uri: str) -> Contents:
    if uri in CONTENTS:
        return CONTENTS[uri]
    templated = TEMPLATED_URI.fullmatch(uri)
    if templated is None:
        raise ResourceNotFound(uri)
    wanted = unquote(templated[1])
    data = {"id": wanted, "templateTest": True, "data": f"Data for ID: {wanted}"}
    return TextContents(uri, json.dumps(data, separators=(",", ":")), "application/json")
