#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import type { ServerScript } from './script.js'
import type { ServerOrder } from './serve.js'
import { serveScript } from './serve.js'

/**
 * The scripted server as a program of its own. Started by `startScriptedServer` it gets its order over the IPC
 * channel and ends with its parent; started by hand it takes a script file, a port and a log file.
 */
if (process.send) {
  process.once('disconnect', () => process.exit(0))
  process.once('message', (order) => serve(order as ServerOrder))
} else {
  const [scriptPath, port = '0', logPath = 'requests.jsonl'] = process.argv.slice(2)
  if (scriptPath === undefined) {
    process.stderr.write(
      'usage: node packages/testkit/dist/server.js <script.json> [port] [requests.jsonl]\n' +
        'The script is JSON: {"turns": [{"content": "Hello"}]}, or the list of turns alone. A turn with "hold": "x" is released by\n' +
        'curl -X POST http://127.0.0.1:<port>/release/x\n',
    )
    process.exit(2)
  }
  await serve({ script: readScript(scriptPath), port: Number(port), logPath })
}

/** A list of turns is a script, too, as in `startScriptedServer`. */
function readScript(path: string): ServerScript {
  const script: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (Array.isArray(script)) return { turns: script }
  if (typeof script === 'object' && script !== null && 'turns' in script && Array.isArray(script.turns))
    return script as ServerScript
  process.stderr.write(`${path}: write a list of turns, or {"turns": [...]}: [{"content": "Hello"}]\n`)
  process.exit(2)
}

async function serve(order: ServerOrder): Promise<void> {
  const server = await serveScript(order, (event) => {
    process.send?.(event, () => {}) // a parent that has gone cannot be told; its disconnect ends us
  })
  process.on('message', (message: { release?: string }) => server.release(message.release ?? ''))
  process.send?.({ type: 'listening', port: server.port })
  if (!process.send) process.stdout.write(`http://127.0.0.1:${server.port}/v1\n`)
}
