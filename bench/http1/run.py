"""CPU per request of a bare ASGI callable on stock and on our own connections: `python -m bench.http1.run`.

Both servers run at once and take turns, round by round, so that whatever else the machine does hits them alike. Only
the time of the server's process counts, as the kernel's scheduler has measured it; every answer is checked.
"""

from __future__ import annotations

import argparse
import selectors
import socket
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from bench.http1.stage import ANSWER

BODY = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}'
REQUEST = (
    b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: application/json, text/event-stream\r\n"
    b"Accept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nUser-Agent: bench\r\n"
    b"Content-Type: application/json\r\nMcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
    b"Mcp-Name: echo\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


@attrs.frozen
class Server:
    path: str
    process: subprocess.Popen[str]
    port: int

    @classmethod
    def start(cls, path: str) -> Server:
        process = subprocess.Popen([sys.executable, "-m", "bench.http1.stage", path], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return cls(path, process, int(process.stdout.readline()))

    def busy(self) -> float:
        """Seconds that the process has run, in all its threads."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident(self) -> int:
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096


def drive(port: int, connections: int, requests: int) -> None:
    """So many requests over so many connections, each with one request under way."""
    with selectors.DefaultSelector() as selector:
        for _ in range(connections):
            sock = socket.create_connection(("127.0.0.1", port))
            selector.register(sock, selectors.EVENT_READ, [b""])
            sock.sendall(REQUEST)
        begun, ended = connections, 0
        while ended < requests:
            for key, _ in selector.select():
                asking, seen = key.fileobj, key.data
                assert isinstance(asking, socket.socket)
                seen[0] += asking.recv(65536)
                if not seen[0].endswith(ANSWER):
                    continue
                assert seen[0].startswith(b"HTTP/1.1 200"), seen[0]
                seen[0] = b""
                ended += 1
                if begun < requests:
                    begun += 1
                    asking.sendall(REQUEST)
        for key in list(selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]


def cost(server: Server, connections: int, requests: int) -> float:
    """Microseconds per request."""
    before = server.busy()
    drive(server.port, connections, requests)
    return (server.busy() - before) / requests * 1e6


def idle(server: Server, count: int) -> float:
    """Kilobytes of the server's memory for each connection that has asked once and is kept."""
    before = server.resident()
    kept = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
    for sock in kept:
        sock.sendall(REQUEST)
    for sock in kept:
        seen = b""
        while not seen.endswith(ANSWER):
            seen += sock.recv(65536)
    grown = server.resident() - before
    for sock in kept:
        sock.close()
    return grown / count / 1024


def report(costs: Mapping[str, Sequence[float]]) -> None:
    least = statistics.median(costs["own"])
    for path, figures in costs.items():
        middle = statistics.median(figures)
        spread = f"{min(figures):.1f} to {max(figures):.1f}"
        print(f"{path:>6}: {middle:6.1f} us of CPU per request ({spread}), {middle / least:.2f} x own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--idle", type=int, default=5000, help="kept connections to weigh; 0 leaves that out")
    given = parser.parse_args()
    servers = [Server.start(path) for path in ("own", "stock")]
    costs: dict[str, list[float]] = {server.path: [] for server in servers}
    try:
        for server in servers:
            drive(server.port, given.connections, 1000)
        for _ in range(given.rounds):
            for server in servers:
                costs[server.path].append(cost(server, given.connections, given.requests))
        report(costs)
        for server in servers if given.idle else ():
            print(f"{server.path:>6}: {idle(server, given.idle):6.1f} KB for each of {given.idle} kept connections")
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    main()
