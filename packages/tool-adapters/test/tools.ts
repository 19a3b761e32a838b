import { defineTool, parsePolicy } from '@delta/executor'
import {
  fixtures,
  type ScriptedServer,
  type ScriptedTurn,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { onTestFinished } from 'vitest'

/** The one that a policy may put to a person. */
export const wipe = defineTool({
  name: 'wipe',
  description: 'Wipe it',
  exec: 'echo wiped',
  effects: { destructive: true, network: true },
})

/** A picture, in base64. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const PDF = Buffer.from('%PDF-1.7 and so on').toString('base64')

/** Tools that print what is not text. */
export const mediaTools = [
  defineTool({ name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' }),
  defineTool({ name: 'paper', shell: `echo ${PDF} | base64 -d`, output: 'file' }),
]

/** One call of each; what stands in the text in their place; and the bytes as they are sent. */
export const MEDIA_CALLS = mediaTools.map(({ expanded: { name } }) => ({ name, arguments: {} }))
export const MEDIA_LINES = ['[image image/png 1x1, 70 bytes]\n', '[file application/pdf, 18 bytes]\n']
export const PNG_URL = `data:image/png;base64,${PNG}`
export const PDF_URL = `data:application/pdf;base64,${PDF}`

/** One tool for each way a call can go. */
export const tools = [
  defineTool({
    name: 'print',
    description: 'Print a text',
    exec: 'printf %s ${text}',
    effects: { idempotent: true, network: false },
  }),
  defineTool({ name: 'fail', description: 'Fail', shell: 'echo oops >&2; exit 3' }),
  defineTool({ name: 'hang', description: 'Run too long', exec: 'sleep 600', timeout_ms: 100 }),
  wipe,
  defineTool({
    name: 'look',
    description: 'Look',
    exec: 'ls',
    effects: { filesystem: { write: false }, destructive: false, network: false },
  }),
  defineTool({
    name: 'repeat',
    exec: 'printf %s ${n}',
    parameters: [{ name: 'n', type: 'integer', default: 3 }],
  }),
  defineTool({
    name: 'wait',
    description: 'Says that it started, and waits',
    command: [fixtures.sleep, '600', 'started'],
  }),
]

/** A scripted model, and a directory to run tools in; both go when the test ends. */
export async function setUp(turns: readonly ScriptedTurn[] = []) {
  const server = await startScriptedServer(turns)
  const directory = await temporaryWorkspace()
  onTestFinished(async () => {
    await server.close()
    await directory.remove()
  })
  return { server, directory, options: { graceMs: 100, cwd: directory.path } }
}

/** What the model was sent as the results of its calls, in the last request. */
export function observationsSent(server: ScriptedServer): unknown[] {
  const messages = server.requests().at(-1)?.json?.messages ?? []
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
}

/** The `input` of the last request to the Responses API. */
export function inputSent(server: ScriptedServer) {
  const { input } = Object(server.requests().at(-1)?.json)
  return input as { output?: unknown; content?: unknown }[]
}

/** Resolves once the tool `wait` runs, with its process id. */
export async function waitStarted(directory: TemporaryWorkspace): Promise<number> {
  return Number((await waitForFile(`${directory.path}/started`, /started \d+/)).split(' ')[1])
}

/** The calls of one response: one that works, one that fails, one that is refused, one that is too slow. */
export const CALLS = [
  { name: 'print', arguments: { text: `it's; $(id)` } },
  { name: 'fail', arguments: {} },
  { name: 'print', arguments: { text: '\0' } },
  { name: 'hang', arguments: {} },
]

/** What the model reads for each of them. */
export const OBSERVATIONS = [
  /^it's; \$\(id\)$/,
  /^\[exit code 3\]\n\[stderr\]\noops\n$/,
  /^ERROR: the arguments of "print" were not accepted\. Nothing was run\./,
  /^\[timed out after /,
]

/** What no schema allows, and what a lenient reader takes: each still has its answer. */
export const ODD_CALLS = [
  { name: 'print', arguments: {} },
  { name: 'print', arguments: { text: [1] } },
  { name: 'repeat', arguments: { n: '7' } },
  { name: 'repeat', arguments: { n: null } },
]

export const ODD_OBSERVATIONS = [
  /^ERROR: the arguments of "print" were not accepted\. Nothing was run\./,
  /^ERROR: the arguments of "print" were not accepted\. Nothing was run\./,
  /^7$/,
  /^3$/,
]

/** `wipe` is put to a person, `look` runs at once. */
export function askingPolicy() {
  return parsePolicy({ allow_destructive: false })
}

/** One that needs no approval, and one that does. */
export const LOOK_AND_WIPE = [
  { name: 'look', arguments: {} },
  { name: 'wipe', arguments: {} },
]

export const BROKEN_CALL = { name: 'print', arguments: '{"text": "ha' }
export const UNKNOWN_CALL = { name: 'prin', arguments: {} }
