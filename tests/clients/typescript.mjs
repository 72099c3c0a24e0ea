// One script for both TypeScript SDKs: `node typescript.mjs v1|v2 URL`. Prints the keys of report.py as a JSON
// line. v1 is `@modelcontextprotocol/sdk` and only knows the handshake era; v2 is `@modelcontextprotocol/client`,
// asked to negotiate (its default is the handshake era too). Runs from a copy next to node_modules.
import { readFileSync } from 'node:fs';

// One line is what the runner shows; Node's own report of an uncaught error ends with its version.
process.on('uncaughtException', error => {
  console.error(`${error.name}: ${error.message}`, error.cause?.message ?? '');
  process.exit(1);
});

const [generation, url] = process.argv.slice(2);

const PACKAGES = {
  v1: {
    name: '@modelcontextprotocol/sdk',
    load: async () => ({
      ...(await import('@modelcontextprotocol/sdk/client/index.js')),
      ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
    }),
    options: {},
    // v1 keeps the negotiated version only on the transport.
    protocol: (client, transport) => transport.protocolVersion,
    // v1 takes the result's schema before the options; undefined means the default one.
    call: (client, params, options) => client.callTool(params, undefined, options),
  },
  v2: {
    name: '@modelcontextprotocol/client',
    load: () => import('@modelcontextprotocol/client'),
    options: { versionNegotiation: { mode: 'auto' } },
    protocol: client => client.getNegotiatedProtocolVersion(),
    call: (client, params, options) => client.callTool(params, options),
  },
};

const sdk = PACKAGES[generation];
const { Client, StreamableHTTPClientTransport } = await sdk.load();
const manifest = new URL(`./node_modules/${sdk.name}/package.json`, import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, 'utf8'));

const client = new Client({ name: 'greenroom-clients', version: '1' }, sdk.options);
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const { tools } = await client.listTools();

let progress = 0;
let first;
const onprogress = () => {
  first ??= performance.now();
  progress += 1;
};
const result = await sdk.call(client, { name: 'countdown', arguments: { steps: 3, seconds: 1 } }, { onprogress });
const lead = first === undefined ? 0 : (performance.now() - first) / 1000;
const report = {
  version,
  protocol: sdk.protocol(client, transport) ?? null,
  tools: tools.map(tool => tool.name),
  progress,
  lead,
  text: result.content.map(block => block.text ?? '').join(' '),
};
await client.close();
console.log(JSON.stringify(report));
