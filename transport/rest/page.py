"""The documentation page: one file that reads `/openapi.json` and shows it. It fetches nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

HTML = Path(__file__).with_name("page.html").read_bytes()


def _hashes(tag: str) -> str:
    """What the policy names instead of allowing every inline script or style."""
    found: list[bytes] = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), HTML, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(each).digest()).decode("ascii") for each in found]
    return " ".join(f"'sha256-{digest}'" for digest in digests)


_POLICY = (
    f"default-src 'none'; script-src {_hashes('script')}; style-src {_hashes('style')}; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-cache"),
)
