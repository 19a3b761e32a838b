import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { SERVER_SANDBOX } from '@delta/executor/internal'
import type { CallOptions, callMcpTool, ServerSandbox } from '@delta/mcp'
import { callInRun, liveRun } from '@delta/mcp/internal'
import { EXIT, StoppedError, stopSignal, type Terminal } from '../terminal.js'
import { print, printable, say } from '../text.js'
import { UsageError } from '../usage.js'

type Result = Awaited<ReturnType<typeof callMcpTool>>

/** `delta mcp call`: calls a tool of a server. Stdout is its result; log messages of the server, and outside of a run its progress, go to stderr. */
export async function execute(
  flags: { text?: true },
  terminal: Terminal,
  path: string,
  tool: string,
): Promise<number> {
  const call = { file: resolve(terminal.cwd, path), tool, args: await readArguments(terminal) }
  using stop = stopSignal(terminal)
  try {
    const tell = (line: string) => say(terminal, line)
    const options = { signal: stop.signal, onLog: tell, onProgress: tell }
    const result = await callTool(call, terminal, options)
    print(terminal, flags.text ? printable(textOf(result)) : `${JSON.stringify(result)}\n`)
    return result.isError ? EXIT.failed : EXIT.completed
  } catch (error) {
    if (stop.signal.aborted)
      throw new StoppedError(stop.signal, error, 'The server was told to stop the call.')
    throw error
  }
}

async function readArguments({ stdin }: Terminal): Promise<Record<string, unknown>> {
  const typed = stdin.isTTY ? '' : await text(stdin)
  if (typed.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(typed)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // not JSON at all, and no object either
  }
  throw new UsageError(`Stdin must be the arguments as one JSON object, as in <<< '{"a":2,"b":3}'.`)
}

/** Within a run the call reaches the run's own server; a call by hand starts one for itself. */
async function callTool(
  call: { file: string; tool: string; args: Record<string, unknown> },
  { cwd, env }: Terminal,
  options: CallOptions,
): Promise<Result> {
  const sandbox = sandboxOf(env)
  const place = { ...options, cwd, env, ...(sandbox && { sandbox }) }
  const run = liveRun(env)
  if (run) return callInRun(run, call, { ...place, keeper: KEEPER })
  const { callMcpTool, readServerFile } = await import('../commands-with-mcp.js')
  return callMcpTool(readServerFile(call.file), call.tool, call.args, place)
}

const KEEPER = [process.execPath, join(import.meta.dirname, '../bin.cjs'), 'mcp-keep']

/** The engine sets it for a tool with `sandbox:`. */
function sandboxOf({ [SERVER_SANDBOX]: written }: NodeJS.ProcessEnv): ServerSandbox | undefined {
  return written ? (JSON.parse(written) as ServerSandbox) : undefined
}

function textOf({ content, structuredContent }: Result): string {
  const blocks = content.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'resource' && 'text' in block.resource) return block.resource.text
    if (block.type === 'resource_link') return `[link: ${block.name}, ${block.uri}]`
    return `[${block.type}${'mimeType' in block ? ` ${block.mimeType}` : ''}]`
  })
  if (blocks.length === 0 && structuredContent) blocks.push(JSON.stringify(structuredContent))
  return blocks.map((block) => (block.endsWith('\n') ? block : `${block}\n`)).join('')
}
