"""Whom the door opens for: the Host and Origin of a request against the public URL. Pure.

A web page on an attacker's domain can make a browser talk to a server on loopback (DNS rebinding); what it
cannot do is forge these two headers. Host names are compared, not ports: a proxy or a forwarded port changes
the port, an attacker needs another name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import attrs

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

_NAME = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?"
_HOST = re.compile(_NAME)
_ORIGIN = re.compile(rf"(https?)://{_NAME}", re.IGNORECASE)
_PORTS = {"http": "80", "https": "443"}


@attrs.frozen
class Refusal:
    status: int
    message: str


@attrs.frozen
class Guard:
    host_names: frozenset[str]
    origins: frozenset[str]

    @classmethod
    def of(cls, public_url: str, allowed_origins: Sequence[str] = ()) -> Guard:
        public = urlsplit(public_url)
        return cls(
            host_names=LOOPBACK | {(public.hostname or "").lower()},
            origins=frozenset({_origin(public_url), *(_origin(origin) for origin in allowed_origins)}),
        )

    def check(self, host: str | None, origin: str | None) -> Refusal | None:
        if host is None or _host_name(host) not in self.host_names:
            return Refusal(421, "This Host is not served here. Set GREENROOM_PUBLIC_URL to the URL that clients use.")
        if origin is not None and not self.allows_origin(origin):
            return Refusal(403, "This Origin is not allowed. Add it to GREENROOM_ALLOWED_ORIGINS if it should be.")
        return None

    def allows_origin(self, origin: str) -> bool:
        """Ours, one that was configured, or a page that was itself loaded from loopback."""
        known = _origin(origin)
        return bool(known) and (known in self.origins or _host_name(known.partition("://")[2]) in LOOPBACK)


def _origin(url: str) -> str:
    """An origin with its port spelled out; nothing if it is not one."""
    match = _ORIGIN.fullmatch(url)
    if match is None:
        return ""
    scheme, host, port = match.group(1).lower(), match.group(2).lower(), match.group(3)
    return f"{scheme}://{host}:{port or _PORTS[scheme]}"


def _host_name(host: str) -> str:
    match = _HOST.fullmatch(host)
    return match.group(1).lower().strip("[]") if match is not None else ""
