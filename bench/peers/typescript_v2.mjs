// The TypeScript SDK v2, wired as its guide says, with the three tools that everybody has: `typescript_v2.mjs PORT`.
// A transport and a server per session of the older era; the SDK's own handler for the newer one.

import { randomUUID } from 'node:crypto';
import { setImmediate as soon, setTimeout as sleep } from 'node:timers/promises';

import { createMcpExpressApp } from '@modelcontextprotocol/express';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import * as z from 'zod';

const text = (said) => ({ content: [{ type: 'text', text: said }] });

function makeServer() {
    const server = new McpServer({ name: 'peer', version: '1' });
    server.registerTool(
        'recall',
        {
            description: "Read this session's notebook.",
            inputSchema: z.object({ user_id: z.string() }),
            outputSchema: z.object({ notes: z.array(z.string()) })
        },
        async () => ({ ...text('The notebook is empty.'), structuredContent: { notes: [] } })
    );
    server.registerTool('greet', { description: 'Greet the user.' }, async () => text('Hello, whoever you are!'));
    server.registerTool(
        'countdown',
        {
            description: 'Count down to lift-off, reporting progress at every step.',
            inputSchema: z.object({ steps: z.number().int(), seconds: z.number() })
        },
        async ({ steps, seconds }, { mcpReq }) => {
            for (let done = 1; done <= steps; done++) {
                await (seconds ? sleep((seconds / steps) * 1000) : soon());
                await mcpReq.notify({
                    method: 'notifications/progress',
                    params: {
                        progressToken: mcpReq._meta.progressToken,
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
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport)
    });
    transport.onclose = () => void transports.delete(transport.sessionId);
    await makeServer().connect(transport);
    return transport;
}

const newer = toNodeHandler(createMcpHandler(makeServer, { legacy: 'reject' }));

app.all('/mcp', async (req, res) => {
    if (req.headers['mcp-method']) return newer(req, res, req.body);
    const id = req.headers['mcp-session-id'];
    const transport = id ? transports.get(id) : await open();
    if (!transport) return void res.status(404).end();
    await transport.handleRequest(req, res, req.body);
});

app.listen(Number(process.argv[2]), '127.0.0.1');
