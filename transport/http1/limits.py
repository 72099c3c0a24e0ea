"""How much a client may send, and how long it may take. Pure."""

from __future__ import annotations

import attrs


@attrs.frozen
class Limits:
    line: int = 16 * 1024
    """Bytes of the request line. Signed URLs are long, but not this long."""
    head: int = 64 * 1024
    """Bytes of the request line and all headers together."""
    fields: int = 100
    """Headers of a request."""
    chunk_line: int = 256
    """Bytes of a chunk's size and extensions; nobody we know sends extensions."""
    chunk_extras: int = 16 * 1024
    """Bytes of extensions in the whole of a body: otherwise a byte of body could cost a line of them."""
    trailers: int = 8 * 1024

    idle_seconds: float = 75.0
    """Until the first byte of the next request."""
    head_seconds: float = 20.0
    """From the first byte of a head to its last, however steadily it drips."""
    body_seconds: float = 30.0
    """In this time a body that the application waits for must bring `body_progress` bytes, or its end."""
    body_progress: int = 64 * 1024
    send_seconds: float = 30.0
    """Until a client that has stopped reading takes another byte."""
    linger_seconds: float = 5.0
    """After the last answer, for a client that is still sending: closing on it would take the answer away from it."""
    linger_bytes: int = 16 * 1024 * 1024
    unread_body: int = 64 * 1024
    """What is read and thrown away of a body that the application ignored, to keep the connection."""
    read_ahead: int = 64 * 1024
    """What is kept of the requests behind the one that is being answered."""
