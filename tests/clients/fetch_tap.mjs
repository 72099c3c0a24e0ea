// Preloaded (`node --import`) into the Inspector's CLI, which asks for progress when given a token but never
// shows it. Copies every event-stream body that the process receives and, when a POST's stream ends, writes one
// JSON line to the file named by FETCH_TAP: the request's protocol version, the progress notifications that
// arrived before the response, and how long before it the first one did. Changes nothing that the client sees.
import { appendFileSync } from 'node:fs';

const real = globalThis.fetch;

async function watch(response, request) {
  const decoder = new TextDecoder();
  let buffered = '';
  let progress = 0;
  let first;
  for await (const chunk of response.body) {
    buffered += decoder.decode(chunk, { stream: true });
    const lines = buffered.split(/\r\n|\n|\r/);
    buffered = lines.pop();
    for (const line of lines.filter(text => text.startsWith('data:') && text.slice(5).trim())) {
      const message = JSON.parse(line.slice(5));
      if (message.method === 'notifications/progress') {
        first ??= performance.now();
        progress += 1;
      } else if (message.id !== undefined && message.method === undefined) {
        const lead = first === undefined ? 0 : (performance.now() - first) / 1000;
        appendFileSync(process.env.FETCH_TAP, JSON.stringify({ ...request, progress, lead }) + '\n');
      }
    }
  }
}

globalThis.fetch = async (input, init) => {
  const response = await real(input, init);
  const streamed = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (streamed && init?.method === 'POST' && typeof init.body === 'string') {
    const request = {
      method: JSON.parse(init.body).method,
      protocol: new Headers(init.headers).get('mcp-protocol-version'),
    };
    // An aborted stream (the client hanging up) ends the copy as well; that is not an error of the tap.
    watch(response.clone(), request).catch(() => {});
  }
  return response;
};
