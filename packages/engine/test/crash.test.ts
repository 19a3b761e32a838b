import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { verifyRun } from '@delta/journal/internal'
import { isKnownEvent } from '@delta/journal/runs'
import {
  areInstalled,
  type ScriptedServer,
  type StartedProcess,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { forkRun } from '../src/index.js'
import { eventsIn, scene } from './run.js'

/** How often the random test kills; `npm run test:real` sets 200, and kills after each line. */
const KILLS = Number(process.env.DELTA_TEST_KILLS ?? 4)
const LINES = process.env.DELTA_TESTS === 'real' ? 1 : 3
/** Then it is let live, so that the test ends on a slow machine, too. */
const KILLS_OF_ONE_RUN = 6
const KILLS_WITH_SNAPSHOTS = Math.ceil(KILLS / 4)

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

test('killed after a line of its journal, a run is always finished by continuing', async () => {
  await using server = await startScriptedServer(TURNS)
  for (let line = 1; ; line += LINES) {
    const run = await scene({ baseUrl: server.baseUrl, tools: TOOLS })
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
      const run = await scene({ baseUrl: server.baseUrl, tools: TOOLS })
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
  300_000 + KILLS * 10_000,
)

test.skipIf(!areInstalled('git'))(
  'killed at random instants, a run with snapshots goes on, and a fork of each snapshot has the files of that iteration and goes on',
  async () => {
    await using server = await startScriptedServer(TURNS)
    for (let kills = 0; kills < KILLS_WITH_SNAPSHOTS; ) {
      const snapshots = { every: 'iteration', wait_ms: 60_000 }
      const run = await scene({ baseUrl: server.baseUrl, tools: TOOLS, agent: { snapshots } })
      for (let lives = 1; ; lives++) {
        const engine = run.start()
        if (lives <= KILLS_OF_ONE_RUN) await killSoon(engine, 400)
        const { signal, exitCode, stderr } = await engine.result
        if (signal !== 'SIGKILL') {
          expect(exitCode, stderr).toBe(0)
          break
        }
        kills += 1
      }
      await checkPromises(run.workspace, server)
      await checkForks(run)
    }
  },
  300_000 + KILLS_WITH_SNAPSHOTS * 10_000,
)

/** In a fork of each iteration with a snapshot is what the calls up to it left, and nothing of a later one. The first goes on. */
async function checkForks({ workspace, load, resume }: Awaited<ReturnType<typeof scene>>): Promise<void> {
  const events = (await eventsIn(workspace)).filter(isKnownEvent)
  const run = join(workspace.path, '.delta', (await workspace.read('.delta/LATEST')).trim())
  expect(verifyRun(run)).toMatchObject({ ok: true })
  const snapshots = events.filter((event) => event.type === 'SNAPSHOT')
  expect(snapshots.filter(({ snapshot_id }) => snapshot_id === null)).toEqual([])
  const iterations = [...new Set(snapshots.map(({ iteration }) => iteration))].filter((n) => n < TURNS.length)
  expect(iterations.length).toBeGreaterThan(0)
  for (const [index, at] of iterations.entries()) {
    await using into = await temporaryWorkspace()
    const fork = await forkRun({ run, at, into: into.path, agent: await load(), files: 'require' })
    const witness = await linesOf(into, 'noted.txt', 'repeated.txt')
    const results = events.filter((event) => event.type === 'ACTION_RESULT')
    for (const { action_id, iteration, status } of results) {
      if (iteration > at) expect(witness).not.toContain(action_id)
      else if (status === 'SUCCESS') expect(witness).toContain(action_id)
    }
    if (index > 0) continue
    expect(await resume(fork)).toMatchObject({ status: 'COMPLETED', answer: 'The end.' })
    expect(verifyRun(fork.directory)).toMatchObject({ ok: true })
  }
}

/** Kills at a random moment of the time in which an engine works. */
async function killSoon(engine: StartedProcess, withinMs = 120): Promise<void> {
  await engine.waitForOutput('begun').catch(() => undefined) // a run that had ended already prints nothing
  await delay(Math.random() * withinMs)
  engine.kill('SIGKILL')
}

/** Events without gaps, requests that a strict server takes, one result for each call, and none run twice unnoticed. */
async function checkPromises(workspace: TemporaryWorkspace, server: ScriptedServer): Promise<void> {
  const events = await eventsIn(workspace)
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

async function linesOf(workspace: TemporaryWorkspace, ...files: string[]): Promise<string[]> {
  const texts = await Promise.all(
    files.map(async (file) => ((await workspace.has(file)) ? workspace.read(file) : '')),
  )
  return texts.join('').split('\n').filter(Boolean)
}
