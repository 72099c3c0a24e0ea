"""A connection: request after request, each answered in this task before the next is looked at.

A request that came early waits in the reader, so pipelined ones are answered in order, and no more of them is read
than fits there. Between two requests the task gives way to the others at least once, and forgets what the application
left in its context.
"""

from __future__ import annotations

import contextvars
import enum
import socket
import time
from math import inf

import trio
from hypercorn.utils import parse_socket_addr
from trio.lowlevel import checkpoint, current_task

from greenroom.transport.http1.answer import bare
from greenroom.transport.http1.exchange import Exchange
from greenroom.transport.http1.head import Head, Refusal
from greenroom.transport.http1.link import Link
from greenroom.transport.http1.reader import Reader
from greenroom.transport.http1.worker import Worker


class Wait(enum.Enum):
    """What the client owes us."""

    REQUEST = enum.auto()
    HEAD = enum.auto()
    ANSWERED = enum.auto()
    """Nothing: it is being answered, and may owe us the rest of its body."""
    END = enum.auto()


class Connection:
    __slots__ = ("_client", "_context", "_exchange", "_reader", "_served", "_server", "_wait", "_worker", "link")

    def __init__(self, worker: Worker, sock: socket.socket) -> None:
        self._worker = worker
        self._reader = Reader(worker.limits)
        self.link = Link(sock, worker.limits)
        self._client = parse_socket_addr(sock.family, sock.getpeername())
        self._server = parse_socket_addr(sock.family, sock.getsockname())
        self._context = contextvars.copy_context()
        self._exchange: Exchange | None = None
        self._served = 0
        self._wait = Wait.REQUEST

    async def serve(self) -> bytes | None:
        """Until the connection ends, or turns into something that is not plain HTTP/1.1: the bytes that begin it."""
        self._worker.enter(self)
        try:
            while (head := await self._next_head()) is not None:
                if isinstance(head, Refusal):
                    await self._refuse(head.status)
                    break
                if head.upgrade:
                    return self._reader.unread()
                if not await self._answer(head):
                    break
            return None
        finally:
            self._worker.leave(self)

    # --- before a request ----------------------------------------------------------------------------------

    async def _next_head(self) -> Head | Refusal | None:
        link, reader, limits = self.link, self._reader, self._worker.limits
        if self._served:
            # A task runs in its context from one wait to the next, so this one takes effect at the next.
            current_task().context = self._context.copy()
            if reader.waiting:
                await checkpoint()
        head = reader.next_head()
        head_deadline = inf
        while head is None:
            if reader.waiting:
                self._wait = Wait.HEAD
                head_deadline = min(head_deadline, trio.current_time() + limits.head_seconds)
                link.read_deadline = head_deadline
            else:
                self._wait = Wait.REQUEST
                reader.forget()
                link.read_deadline = trio.current_time() + limits.idle_seconds
                if self._worker.ending:
                    return None
            data = await link.read()
            if not data:
                return None
            reader.feed(data)
            head = reader.next_head()
        self._wait = Wait.ANSWERED
        link.read_deadline = inf
        return head

    # --- a request -----------------------------------------------------------------------------------------

    async def _answer(self, head: Head) -> bool:
        """Let the application answer. Whether there can be another request after this one."""
        worker, config = self._worker, self._worker.config
        self._served += 1
        if config.server_names and head.host.decode("latin-1") not in config.server_names:
            await self._refuse(404)
            return False
        last = not head.keep_alive or self._served >= config.keep_alive_max_requests
        exchange = self._exchange = Exchange(worker, self.link, self._reader, head, last)
        began = time.time() if worker.logs_access else 0.0
        scope = exchange.scope(self._client, self._server)
        try:
            await worker.application(scope, exchange.receive, exchange.send)
        except Exception:
            # The border between the server and whatever it serves: what escaped here would end every connection.
            await config.log.exception("Error in ASGI Framework")
        except BaseExceptionGroup as errors:
            await self._only_cancelled(errors)
        finally:
            exchange.close()
            self._exchange = None
        if worker.logs_access:
            await self._log_access(scope, exchange, time.time() - began)
        if worker.context.max_requests is not None:
            await worker.context.mark_request()
        return await self._settle(exchange)

    async def _only_cancelled(self, errors: BaseExceptionGroup[BaseException]) -> None:
        """An application that was cancelled and failed on its way out: the first goes on, the second is told."""
        cancelled, others = errors.split(trio.Cancelled)
        if not isinstance(others, ExceptionGroup) or cancelled is None:
            raise errors
        await self._worker.config.log.exception("Error in ASGI Framework")
        raise cancelled

    async def _log_access(self, scope: dict[str, object], exchange: Exchange, seconds: float) -> None:
        answer = exchange.answer
        response = None if answer is None else {"status": answer.status, "headers": []}
        await self._worker.config.log.access(scope, response, seconds)  # type: ignore[arg-type]

    async def _settle(self, exchange: Exchange) -> bool:
        """Put the connection in order after the application. Whether it can go on."""
        link, answer = self.link, exchange.answer
        if answer is None or answer.unsent:
            if not link.left:
                await self._refuse(exchange.refusal.status if exchange.refusal else 500)
            return False
        if not answer.complete:
            link.cut()
            return False
        if answer.close or link.left or exchange.refusal:
            await self._part()
            return False
        return self._reader.done or await self._skip_body()

    async def _skip_body(self) -> bool:
        """Read what the application did not care for. Whether it has come to an end."""
        reader, limits = self._reader, self._worker.limits
        self.link.read_deadline = trio.current_time() + limits.linger_seconds
        self._wait = Wait.END
        while not reader.done:
            piece = reader.next_body()
            if piece is None:
                reader.feed(await self.link.read())
                if self.link.left:
                    return False
            elif isinstance(piece, Refusal):
                return False
        return True

    # --- the end -------------------------------------------------------------------------------------------

    async def _refuse(self, status: int) -> None:
        await self.link.write(bare(status, self._worker.common_headers()))
        await self._part()

    async def _part(self) -> None:
        """Close in a way that lets the client read the last answer, even if it is still sending."""
        link, limits = self.link, self._worker.limits
        if self._reader.done and not self._reader.waiting:
            return
        link.end_writing()
        link.read_deadline = trio.current_time() + limits.linger_seconds
        self._wait = Wait.END
        heard = 0
        while not link.left and heard < limits.linger_bytes:
            heard += len(await link.read())

    # --- the clock -----------------------------------------------------------------------------------------

    def late(self, now: float) -> None:
        link = self.link
        if link.write_deadline <= now:
            link.reset()
        elif self._exchange is not None and self._exchange.awaits_body:
            self._exchange.give_up_on_body()
        else:
            if self._wait is Wait.HEAD:
                link.write_at_once(bare(408, self._worker.common_headers()))
            link.cut()

    def send_home(self) -> None:
        if self._wait is Wait.REQUEST:
            self.link.cut()
