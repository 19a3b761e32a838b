import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { StoredEvent } from '@delta/journal/runs'
import {
  type ScriptedServer,
  type StartedProcess,
  startProcess,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { PROGRAM } from './run.js'

/** How often the random test kills; `npm run test:real` sets 200. */
const KILLS = Number(process.env.DELTA_TEST_KILLS ?? 8)
/** Then it is let live, so that the test ends on a slow machine, too. */
const KILLS_OF_ONE_RUN = 6

const call = (name: string) => ({ name, arguments: {} })
const TURNS = [
  { tool_calls: [call('note')] },
  { tool_calls: [call('note'), call('again')] },
  { tool_calls: [call('again')] },
  { content: 'The end.' },
]
const TOOLS = [
  { name: 'note', shell: 'echo $DELTA_ACTION_ID >> noted.txt' },
  { name: 'again', shell: 'echo $DELTA_ACTION_ID >> repeated.txt', on_interrupt: 'rerun' },
]

/** One run that may be killed as often as one likes; the server and the tools' files are the witnesses. */
async function scene(server: ScriptedServer) {
  const agent = await temporaryAgent({ baseUrl: server.baseUrl, tools: TOOLS })
  const workspace = await temporaryWorkspace({})
  const environment = { PATH: process.env.PATH ?? '' }
  return {
    workspace,
    start: (killAfter?: number) => {
      const argv = [process.execPath, PROGRAM, agent.path, workspace.path]
      return startProcess(killAfter === undefined ? argv : [...argv, String(killAfter)], { env: environment })
    },
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      await workspace[Symbol.asyncDispose]()
    },
  }
}

test('killed after each single line of its journal, a run is always finished by continuing', async () => {
  await using server = await startScriptedServer(TURNS)
  for (let line = 1; ; line++) {
    await using run = await scene(server)
    const killed = await run.start(line).result
    const finished = killed.signal === null ? killed : await run.start().result
    expect(finished, `killed after line ${line}: ${finished.stderr}`).toMatchObject({ exitCode: 0 })
    await checkPromises(run.workspace, server)
    if (killed.signal === null) {
      expect(line).toBeGreaterThan(12)
      return
    }
  }
})

test(
  'killed at random instants again and again, a run loses nothing and runs nothing twice unnoticed',
  async () => {
    await using server = await startScriptedServer(TURNS)
    for (let kills = 0; kills < KILLS; ) {
      await using run = await scene(server)
      for (let lives = 1; ; lives++) {
        const engine = run.start()
        if (lives <= KILLS_OF_ONE_RUN) await killSoon(engine)
        const { signal, exitCode, stderr } = await engine.result
        if (signal !== 'SIGKILL') {
          expect(exitCode, stderr).toBe(0)
          break
        }
        kills += 1
      }
      await checkPromises(run.workspace, server)
    }
  },
  KILLS * 10_000,
)

/** Kills at a random moment of the time in which an engine works. */
async function killSoon(engine: StartedProcess): Promise<void> {
  await engine.waitForOutput('begun').catch(() => undefined) // a run that had ended already prints nothing
  await delay(Math.random() * 120)
  engine.kill('SIGKILL')
}

/** Events without gaps, requests that a strict server takes, one result for each call, and none run twice unnoticed. */
async function checkPromises(workspace: TemporaryWorkspace, server: ScriptedServer): Promise<void> {
  const events = await readJournalOf(workspace)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.at(-1)).toMatchObject({ type: 'ENGINE_END', status: 'COMPLETED' })
  expect(server.requests().filter(({ outcome }) => outcome !== 'answer')).toEqual([])

  const calls = events.flatMap((event) =>
    'tool_calls' in event ? (event.tool_calls as { action_id: string; name: string }[]) : [],
  )
  expect(calls).toHaveLength(4)
  const witness = await linesOf(workspace, 'noted.txt', 'repeated.txt')
  for (const { action_id, name } of calls) {
    const of = (type: string) =>
      events.filter((event) => event.type === type && 'action_id' in event && event.action_id === action_id)
    const [result] = of('ACTION_RESULT')
    expect(of('ACTION_RESULT')).toHaveLength(1)
    const ran = witness.filter((line) => line === action_id).length
    expect(ran).toBeLessThanOrEqual(of('ACTION_REQUEST').length)
    if (name === 'note') expect(ran).toBeLessThanOrEqual(1)
    if (result && 'status' in result && result.status === 'SUCCESS') expect(ran).toBeGreaterThanOrEqual(1)
  }
}

async function readJournalOf(workspace: TemporaryWorkspace): Promise<StoredEvent[]> {
  const runId = (await workspace.read('.delta/LATEST')).trim()
  const text = await readFile(join(workspace.path, '.delta', runId, 'journal.jsonl'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

async function linesOf(workspace: TemporaryWorkspace, ...files: string[]): Promise<string[]> {
  const texts = await Promise.all(
    files.map(async (file) => ((await workspace.has(file)) ? workspace.read(file) : '')),
  )
  return texts.join('').split('\n').filter(Boolean)
}
