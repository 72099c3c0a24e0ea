// The TypeScript SDK v1, wired as its examples are, with the three tools that everybody has: `typescript_v1.mjs PORT`.
// A transport and a server per session; a call without a session gets a pair of its own.

import { randomUUID } from 'node:crypto';
import { setImmediate as soon, setTimeout as sleep } from 'node:timers/promises';

import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';

const text = (said) => ({ content: [{ type: 'text', text: said }] });

function makeServer() {
    const server = new McpServer({ name: 'peer', version: '1' });
    server.registerTool(
        'recall',
        {
            description: "Read this session's notebook.",
            inputSchema: { user_id: z.string() },
            outputSchema: { notes: z.array(z.string()) }
        },
        async () => ({ ...text('The notebook is empty.'), structuredContent: { notes: [] } })
    );
    server.registerTool('greet', { description: 'Greet the user.' }, async () => text('Hello, whoever you are!'));
    server.registerTool(
        'countdown',
        {
            description: 'Count down to lift-off, reporting progress at every step.',
            inputSchema: { steps: z.number().int(), seconds: z.number() }
        },
        async ({ steps, seconds }, extra) => {
            for (let done = 1; done <= steps; done++) {
                await (seconds ? sleep((seconds / steps) * 1000) : soon());
                await extra.sendNotification({
                    method: 'notifications/progress',
                    params: {
                        progressToken: extra._meta.progressToken,
                        progress: done,
                        total: steps,
                        message: `T minus ${steps - done}`
                    }
                });
            }
            return text(`${steps} steps, and lift-off!`);
        }
    );
    return server;
}

const transports = new Map();
const app = createMcpExpressApp();

async function open() {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport)
    });
    transport.onclose = () => void transports.delete(transport.sessionId);
    await makeServer().connect(transport);
    return transport;
}

async function openForOne(res) {
    const server = makeServer();
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    res.on('close', () => void transport.close());
    await server.connect(transport);
    return transport;
}

app.all('/mcp', async (req, res) => {
    const id = req.headers['mcp-session-id'];
    const known = id && transports.get(id);
    if (id && !known) return void res.status(404).end();
    const transport = known || (isInitializeRequest(req.body) ? await open() : await openForOne(res));
    await transport.handleRequest(req, res, req.body);
});

app.listen(Number(process.argv[2]), '127.0.0.1');
