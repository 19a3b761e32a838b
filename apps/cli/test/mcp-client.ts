import { type AnswerTurn, fixtures, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished } from 'vitest'
import { delta, type Scene, scene } from './delta.js'

/** The file that `delta mcp import` makes of a server. */
export async function imported(command: readonly string[], name: string): Promise<string> {
  const { path: cwd, read } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const { exitCode, stderr } = await delta(
    ['mcp', 'import', '-o', `${name}.yaml`, '--name', name, '--', ...command],
    { cwd },
  )
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return read(`${name}.yaml`)
}

/** A tool that kills the process which keeps the server, as nothing in a run would. */
const KILL_KEEPER = {
  name: 'kill_keeper',
  shell: String.raw`kill -9 $(sed -E 's/.*"pid":([0-9]+),"socket.*/\1/' "$RUN_DIR"/mcp/desk-*.json)`,
}

/** A server's tools without declared effects, and destructive ones, would wait for a person. */
const ALLOWED = Object.fromEntries(
  ['add', 'env', 'fail', 'end', 'wait', 'structured'].map((tool) => [`desk_${tool}`, 'allow']),
)

/** An agent with the tools of the test server, in a directory of their own, and those turns as its model. */
export async function atDesk(
  turns: readonly AnswerTurn[],
  change: (file: string) => string = (file) => file,
): Promise<Scene> {
  const file = change(await imported([process.execPath, fixtures.mcpServer], 'desk'))
  return scene({
    tools: [KILL_KEEPER],
    agent: {
      imports: ['./servers/desk.yaml'],
      max_iterations: 40,
      tool_concurrency: 2,
      policy: { tools: ALLOWED },
    },
    files: { 'servers/desk.yaml': file },
    turns,
  })
}

/** The processes that a run has started for the test server, by what they have written: servers, and the one that keeps them, which has `seen` the last server as that pid. */
export async function processesOf({
  workspace,
}: Scene): Promise<{ servers: number[]; keeper: number; seen: number }> {
  const log = await workspace.read('server.log')
  const run = (await workspace.read('.delta/LATEST')).trim()
  const files = (await workspace.files()).filter(
    (path) => path.startsWith(`.delta/${run}/mcp/`) && path.endsWith('.json'),
  )
  const record = JSON.parse(await workspace.read(files[0] ?? ''))
  return {
    servers: [...log.matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid)),
    keeper: record.pid,
    seen: record.server.pid,
  }
}
