"""Plain HTTP/1.1, read and answered in the connection's own task: what Hypercorn's Trio worker serves us with.

The reason is cost. For each request Hypercorn starts a task, a channel and a timer, and it sends an answer in several
pieces; all of that is more work than most of our answers. Here the application is awaited where its request was read,
an answer goes out in one piece, and one task per worker minds the clock for every connection.

What it is not: a server. The command line, the configuration, the sockets, the workers and the lifespan are
Hypercorn's, and so is every connection that is not plain HTTP/1.1 (TLS, HTTP/2, WebSockets): those are handed over
with the bytes that were read. `GREENROOM_HTTP=stock` leaves Hypercorn the rest as well.

From the bottom up: `limits`; `head`, `chunks` and `reader` (bytes to requests) and `answer` (answers to bytes), which
are pure; `link` (a socket and its deadlines); `exchange` (one request, as ASGI); `connection`; `worker` (what the
connections of a process share, and the clock).
"""
