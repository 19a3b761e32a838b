import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { needsBuild, readText, temporaryDirectory } from './helpers.js'
import { isKnownEvent, openRun, readJournal, readRequest, readRun, type StoredEvent } from './of-runs.js'

const isReal = process.env.DELTA_TESTS === 'real'
/** After each how many changes of the disk it is killed, and how often at random. `npm run test:real` takes every change. */
const [STEP, KILLS] = isReal ? [1, 75] : [9, 5]

const ITERATIONS = 400 // more than the kills let it reach, so that every kill finds a writer

interface Scene {
  work: string
  run: string
  journal: string
  witness: string
  /** Whole lines of the journal after the last kill. */
  before: string
  kills: number
}

function newScene(): Scene {
  needsBuild()
  const work = temporaryDirectory()
  const run = join(work, '.delta', 'crash')
  return {
    work,
    run,
    journal: join(run, 'journal.jsonl'),
    witness: join(work, 'witness'),
    before: '',
    kills: 0,
  }
}

/** Runs the writer once; resolves when it has ended. */
async function write(
  scene: Scene,
  options: { killAfter?: string; killAfterMs?: number; iterations?: number },
) {
  const preload = ['--import', join(import.meta.dirname, 'kill-after.mjs')]
  const script = join(import.meta.dirname, 'crash-writer.mjs')
  const args = [
    ...(options.killAfter ? preload : []),
    script,
    scene.work,
    scene.witness,
    String(options.iterations ?? ITERATIONS),
  ]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, KILL_AFTER: options.killAfter ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  if (options.killAfterMs !== undefined) {
    await Promise.race([once(child.stdout, 'data'), ended])
    await delay(options.killAfterMs)
    child.kill('SIGKILL')
  }
  const [code, signal] = await ended
  if (signal === 'SIGKILL') scene.kills += 1
  return { code: code as number | null, signal: signal as string | null }
}

/** What must hold after a kill at any instant. */
async function check(scene: Scene): Promise<StoredEvent[]> {
  if (!existsSync(scene.journal)) return []
  const text = readText(scene.journal)
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  expect(whole.startsWith(scene.before)).toBe(true) // complete lines never change
  scene.before = whole

  const { events, warnings } = await readJournal(scene.journal)
  expect(warnings).toEqual([])
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  for (const seq of witnessed(scene).map((line) => Number(line.split(' ')[2]))) {
    expect(seq).toBeLessThanOrEqual(events.length) // whatever was shown is in the journal
  }
  const metadata = join(scene.run, 'metadata.json')
  if (existsSync(metadata)) expect(JSON.parse(readText(metadata))).toMatchObject({ run_id: 'crash' })
  return events
}

function witnessed(scene: Scene): string[] {
  if (!existsSync(scene.witness)) return []
  return readText(scene.witness)
    .split('\n')
    .filter((line) => /^(request|start) /.test(line))
}

/** What must hold once the run has been continued to its end. */
async function finish(scene: Scene): Promise<void> {
  const reached = existsSync(scene.journal) ? (await readRun(scene.run)).lastIteration : 0
  expect(await write(scene, { iterations: reached + 2 })).toEqual({ code: 0, signal: null })
  const events = (await check(scene)).filter(isKnownEvent)
  expect(await readRun(scene.run)).toMatchObject({ status: 'COMPLETED', pendingCalls: [] })

  const starts = witnessed(scene)
    .filter((line) => line.startsWith('start '))
    .map((line) => line.split(' ')[1])
  expect(new Set(starts).size).toBe(starts.length) // no call is ever run twice
  const calls = events.flatMap((event) =>
    event.type === 'THOUGHT' ? event.tool_calls.map((call) => call.action_id) : [],
  )
  const results = events.flatMap((event) => (event.type === 'ACTION_RESULT' ? event.action_id : []))
  expect(results).toEqual(calls) // each has exactly one result, in order
  for (let iteration = 1; iteration <= reached + 2; iteration++) {
    const { messages } = JSON.parse(await readRequest(scene.run, iteration)) as { messages: unknown[] }
    expect(messages).toHaveLength(iteration)
  }
}

test('a run killed after changes of the disk, and half-way through writes, loses nothing and is finished', async () => {
  const scene = newScene()
  for (let call = 1; call <= 65; call += STEP) {
    for (const how of ['after', 'half']) {
      expect((await write(scene, { killAfter: `${call} ${how}` })).signal).toBe('SIGKILL')
      await check(scene)
    }
  }
  expect(scene.kills).toBe(2 * Math.ceil(65 / STEP))
  await finish(scene)
  expect(readdirSync(scene.run).filter((name) => name.startsWith('journal.torn-')).length).toBeGreaterThan(0)
})

test('what a kill left beside a file it was about to replace is removed when the run is opened next', async () => {
  const seen = new Set<string>()
  const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60
  for (let call = 1; ; call += isReal ? 1 : 4) {
    const scene = newScene()
    const { signal } = await write(scene, { killAfter: `${call} after`, iterations: 1 })
    if (signal !== 'SIGKILL') break
    const left = leftIn(scene)
    for (const path of left) {
      seen.add(
        path
          .slice(scene.work.length)
          .replace(/\.?[0-9a-f]+\.tmp$/, '')
          .replace(/\d{8}T\d{9}/, '…'),
      )
      if (/VERSION|LATEST|lease\/\./.test(path)) utimesSync(path, twoDaysAgo, twoDaysAgo) // others may be writing these
    }
    if (left.length === 0 || !existsSync(scene.journal) || readText(scene.journal) === '') continue
    await openRun(scene.run).then((run) => run.close())
    expect(leftIn(scene)).toEqual([])
  }
  const replaced = [
    '/.delta/LATEST',
    '/.delta/VERSION',
    '/.delta/crash/io/invocations/…_1.json',
    '/.delta/crash/lease/',
    '/.delta/crash/lease/1',
    '/.delta/crash/metadata.json',
  ]
  if (isReal) expect([...seen].sort()).toEqual(replaced)
  else expect([seen.size > 0, replaced]).toEqual([true, expect.arrayContaining([...seen])])
})

function leftIn({ work }: Scene): string[] {
  return readdirSync(work, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tmp'))
    .map((name) => join(work, name))
}

test('a run killed at random instants loses nothing and is finished', async () => {
  const scene = newScene()
  while (scene.kills < KILLS) {
    await write(scene, { killAfterMs: Math.random() * 12 })
    await check(scene)
  }
  await finish(scene)
})
