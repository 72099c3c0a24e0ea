"""The load client on real sockets: against a server of canned answers that misbehaves when asked to."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bench.load import Client, Script, Wrong
from bench.wire import Response

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
Serve = Callable[[socket.socket], None]


def politely(connection: socket.socket) -> None:
    while connection.recv(65536):
        connection.sendall(ANSWER)


def half(connection: socket.socket) -> None:
    """Half of an answer, and the end of the connection."""
    connection.recv(65536)
    connection.sendall(ANSWER[:-1])


def once(connection: socket.socket) -> None:
    """One good answer, then it hangs up."""
    connection.recv(65536)
    connection.sendall(ANSWER)


@contextmanager
def serving(serve: Serve) -> Iterator[tuple[str, int]]:
    """A thread for each connection; all of them end with the block, because their sockets do."""
    open_ones: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def attend(connection: socket.socket) -> None:
        try:
            serve(connection)
        except OSError:
            pass
        finally:
            connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_ones.append(connection)
            threads.append(threading.Thread(target=attend, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listener.getsockname()
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for connection in open_ones:
                if connection.fileno() >= 0:
                    connection.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


@contextmanager
def client_of(address: tuple[str, int], connections: int) -> Iterator[Client]:
    client = Client(address, connections)
    try:
        yield client
    finally:
        client.close()


def two_requests(line: int) -> Script:
    for _ in range(2):
        response: Response = yield b"x"
        if response.body != b"{}":
            raise Wrong("not what was expected")


def test_every_script_that_ends_well_is_counted_once() -> None:
    with serving(politely) as address, client_of(address, 4) as client:
        tally = client.play(two_requests, seconds=30, most=50)
    assert (len(tally.latencies), tally.wrong) == (50, 0)
    assert 0 < min(tally.latencies) <= max(tally.latencies) <= tally.seconds


def test_a_wrong_answer_is_counted_and_the_connection_goes_on() -> None:
    asked = 0

    def script(line: int) -> Script:
        nonlocal asked
        asked += 1
        yield b"x"
        if asked % 2:
            raise Wrong("odd")

    with serving(politely) as address, client_of(address, 1) as client:
        tally = client.play(script, seconds=30, most=10)
    assert (len(tally.latencies), tally.wrong) == (5, 5)
    assert set(tally.faults) == {"odd"}


def test_an_answer_that_breaks_off_is_wrong_and_a_new_connection_is_made() -> None:
    with serving(half) as address, client_of(address, 2) as client:
        tally = client.play(two_requests, seconds=30, most=6)
    assert (len(tally.latencies), tally.wrong) == (0, 6)
    assert all("closed the connection" in fault or "Connection" in fault for fault in tally.faults)


def test_after_an_answer_that_cannot_be_read_a_new_connection_is_made() -> None:
    served = 0

    def first_nonsense(connection: socket.socket) -> None:
        nonlocal served
        served += 1
        if served > 1:
            politely(connection)
        while connection.recv(65536):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    with serving(first_nonsense) as address, client_of(address, 1) as client:
        tally = client.play(two_requests, seconds=30, most=4)
    assert (len(tally.latencies), tally.wrong) == (3, 1)


def test_a_connection_that_the_server_has_closed_meanwhile_is_mended() -> None:
    def one_request(line: int) -> Script:
        yield b"x"

    with serving(once) as address, client_of(address, 1) as client:
        assert client.play(one_request, seconds=30, most=1).wrong == 0
        # Until the server's farewell has arrived there is nothing to see; then there is an end to read.
        assert client.lines[0].socket.recv(1, socket.MSG_PEEK) == b""
        client.mend()
        assert client.play(one_request, seconds=30, most=1).wrong == 0


def test_a_connection_that_is_closed_after_an_answer_is_made_again() -> None:
    def one_request(line: int) -> Script:
        # Whoever hangs up is heard before the next request is written, or it could be lost in the connection's end.
        yield b"x"
        assert client.lines[0].socket.recv(1, socket.MSG_PEEK) == b""
        client.lines[0].socket.shutdown(socket.SHUT_RDWR)

    with serving(once) as address, client_of(address, 1) as client:
        tally = client.play(one_request, seconds=30, most=5)
    assert (len(tally.latencies), tally.wrong) == (5, 0)


def test_a_client_whose_server_is_gone_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
    with pytest.raises(ConnectionRefusedError):
        Client(address, 1)
