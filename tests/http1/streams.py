"""Byte streams for the fuzzer: sound requests, nearly sound ones, and the tricks that smuggle requests.

A stream is a few requests, built from parts that are mostly right and now and then from the worst that is known, then
perhaps damaged at random, then cut at random places.
"""

from __future__ import annotations

from random import Random
from typing import Final

from hypothesis import strategies as st

METHODS: Final = (b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"HEAD", b"PATCH")
ODD_METHODS: Final = (
    b"get",
    b"CONNECT",
    b"PRI",
    b"G T",
    b"",
    b"M-SEARCH",
    b"GET\x00",
    b"SOURCE",
    b"GE\xc3T",
    b"A" * 40,
)
TARGETS: Final = (b"/", b"/mcp", b"/a%20b?c=d&e", b"/a//b/../c", b"/?")
ODD_TARGETS: Final = (b"*", b"http://a/b", b"HTTPS://a", b"a:443", b"", b"/a b", b"/\xff", b"/a#b", b"//", b"/" * 200)
VERSIONS: Final = (b"HTTP/1.1",) * 8 + (b"HTTP/1.0",) * 2
ODD_VERSIONS: Final = (b"HTTP/1.2", b"HTTP/2.0", b"HTTP/0.9", b"http/1.1", b"HTTP/1.1 ", b"HTTP/01.1", b"ICE/1.0", b"")
GAPS: Final = (b"  ", b"\t", b"\x0b", b"", b"\xa0")
ENDS: Final = (b"\n", b"\r", b"\r\r\n", b"\n\r", b" \r\n", b"\r\n ", b"\r\n\t", b"\x00\r\n", b"\x0b\r\n", b"")
HOSTS: Final = (b"Host: a", b"host: localhost:8000", b"HOST:[::1]:80", b"Host:")
FIELDS: Final = (
    b"Accept: */*",
    b"X-A: 1",
    b"x-a:2",
    b"Content-Type: application/json",
    b"Empty:",
    b"X-Text: \xff caf\xe9",
    b"Connection: keep-alive",
    b"Connection: close",
    b"Connection: x, Close",
    b"Connection:\tclosed",
    b"Expect: 100-continue",
    b"Upgrade: TLS/1.0",
    b"TE: trailers",
)
ODD_FIELDS: Final = (
    b"Host: b",
    b"Host : a",
    b"Content-Length : 3",
    b"Content-Length: 3",
    b"Content-Length: 3, 3",
    b"Content-Length: 3, 4",
    b"Content-Length: +3",
    b"Content-Length: -3",
    b"Content-Length: 0x3",
    b"Content-Length: 3 ",
    b"Content-Length:\x0b3",
    b"Content-Length: 99999999999999999999999",
    b"Content-Length:",
    b"Content_Length: 3",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: Chunked",
    b"Transfer-Encoding:\x0bchunked",
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: identity, chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: chunked\r",
    b"Transfer-Encoding:\r\n chunked",
    b"X: a\rContent-Length: 9",
    b"X: a\nContent-Length: 9",
    b"X: a\x00b",
    b"X: a\x01b",
    b" folded: 1",
    b"\tfolded",
    b"no colon",
    b": no name",
    b"na me: 1",
    b"n\xc3\xa4me: 1",
    b"Upgrade: h2c",
    b"Upgrade: websocket",
    b"X-Long: " + b"a" * 300,
)
SIZES: Final = (b"%x", b"%X", b"0%x", b"%x;a", b"%x;a=b;c")
ODD_SIZES: Final = (
    b"%x ",
    b" %x",
    b"+%x",
    b"-%x",
    b"0x%x",
    b"%x\t;a",
    b"%x;\r",
    b"%x;\n",
    b"%x_0",
    b"%xg",
    b"%x,1",
    b"0000000000000000000000%x",
)
TRAILERS: Final = (b"", b"", b"", b"X: 1\r\n", b"X: 1\r\nY: 2\r\n")
ODD_TRAILERS: Final = (
    b"X : 1\r\n",
    b" X: 1\r\n",
    b"X: 1\n",
    b"Content-Length: 1\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"x\r\n",
)
CUTS: Final = (b"\r", b"\n", b"\r\n", b"\x00", b" ", b"\t", b":", b";", b",", b"\xff", b"0", b"a")


def _pick(dice: Random, usual: tuple[bytes, ...], odd: tuple[bytes, ...], risk: float) -> bytes:
    return dice.choice(odd) if dice.random() < risk else dice.choice(usual)


def _line(dice: Random, text: bytes, risk: float) -> bytes:
    return text + _pick(dice, (b"\r\n",), ENDS, risk)


def _chunk(dice: Random, data: bytes, risk: float) -> bytes:
    size = _pick(dice, SIZES, ODD_SIZES, risk) % max(
        0, len(data) + (dice.choice((-1, 1, 5)) if dice.random() < risk else 0)
    )
    return _line(dice, size, risk) + data + _pick(dice, (b"\r\n",), ENDS, risk)


def _chunked(dice: Random, risk: float) -> bytes:
    body = b"".join(_chunk(dice, _text(dice, 1), risk) for _ in range(dice.randrange(4)))
    end = _line(dice, _pick(dice, (b"0", b"000", b"0;a"), ODD_SIZES, risk).replace(b"%x", b"0"), risk)
    return body + end + _pick(dice, TRAILERS, ODD_TRAILERS, risk) + _pick(dice, (b"\r\n",), ENDS, risk)


def _text(dice: Random, least: int = 0) -> bytes:
    """Now and then a body that looks like a request."""
    if dice.random() < 0.2:
        return b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
    return bytes(dice.choices(b"abc\r\n 0", k=dice.randrange(least, 12)))


def _request(dice: Random, risk: float) -> bytes:
    fields = [dice.choice(FIELDS) for _ in range(dice.randrange(4))]
    if dice.random() >= risk / 2:
        fields.append(dice.choice(HOSTS))
    fields += [dice.choice(ODD_FIELDS) for _ in range(2) if dice.random() < risk]
    body = b""
    match dice.randrange(3):
        case 1:
            body = _text(dice)
            off = dice.choice((-1, 1)) if dice.random() < risk else 0
            fields.append(b"Content-Length: %d" % max(0, len(body) + off))
        case 2:
            body = _chunked(dice, risk)
            fields.append(b"Transfer-Encoding: chunked")
    dice.shuffle(fields)
    gap, other = (_pick(dice, (b" ",), GAPS, risk / 3) for _ in range(2))
    line = (
        _pick(dice, METHODS, ODD_METHODS, risk)
        + gap
        + _pick(dice, TARGETS, ODD_TARGETS, risk)
        + other
        + _pick(dice, VERSIONS, ODD_VERSIONS, risk)
    )
    head = b"".join(_line(dice, text, risk / 4) for text in (line, *fields))
    return head + _pick(dice, (b"\r\n",), ENDS, risk / 4) + body


def _damaged(dice: Random, data: bytes) -> bytes:
    at = dice.randrange(len(data) + 1)
    match dice.randrange(4):
        case 0:
            return data[:at] + dice.choice(CUTS) + data[at:]
        case 1:
            return data[:at] + data[at + dice.randrange(1, 4) :]
        case 2:
            return data[:at] + bytes([dice.randrange(256)]) + data[at + 1 :]
        case _:
            return data[:at]


def _stream(dice: Random) -> bytes:
    risk = dice.choice((0.0, 0.05, 0.1, 0.3))
    data = b"".join(_request(dice, risk) for _ in range(dice.randrange(1, 4)))
    for _ in range(dice.choice((0, 0, 0, 1, 3))):
        data = _damaged(dice, data)
    return data


def _cut(dice: Random, data: bytes) -> list[bytes]:
    if dice.random() < 0.04:
        return [data[at : at + 1] for at in range(len(data))]
    places = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(6)))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True) if start < end]


def build(dice: Random) -> list[bytes]:
    return _cut(dice, _stream(dice))


def seeded(seed: int) -> list[bytes]:
    return build(Random(seed))


pieces: st.SearchStrategy[list[bytes]] = st.one_of(
    *(st.integers(0, 2**64 - 1).map(seeded) for _ in range(18)),
    st.randoms(use_true_random=False).map(build),
    st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=4),
)
"""Mostly from plain dice, which are many times faster and more even; the others hypothesis can shrink."""
