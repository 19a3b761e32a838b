import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunSummary } from '@delta/journal/runs'
import { runProcess } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { isOwnRun, listingOwnRuns, ownRun } from '../src/index.js'

/** A workspace with the directory of a run, and a state directory. */
function scene() {
  const home = mkdtempSync(join(tmpdir(), 'delta-own-runs-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const run = join(home, 'ws/.delta/one')
  mkdirSync(run, { recursive: true })
  const env = { DELTA_STATE_DIR: join(home, 'state') }
  const listed = () => (existsSync(join(home, 'state/runs')) ? readdirSync(join(home, 'state/runs')) : [])
  return { home, run, env, listed }
}

const goingOn = (home: string, set: string[] = [], importRoots: string[] = []) => ({
  agent: { home, snapshot: { overrides: set } },
  allowed: { importRoots },
})
const SAID = goingOn(tmpdir())

test('T1: a run is mine where it was listed or was moved; a copy, a token of another kind and a link are not', () => {
  const { home, run, env } = scene()
  expect(isOwnRun(run, env)).toBe(false)
  listingOwnRuns(env)(run, SAID, { begins: true })
  expect(isOwnRun(run, env)).toBe(true)
  cpSync(run, join(home, 'ws/.delta/two'), { recursive: true })
  expect(isOwnRun(join(home, 'ws/.delta/two'), env)).toBe(false)
  cpSync(join(home, 'ws'), join(home, 'copy'), { recursive: true })
  expect(isOwnRun(join(home, 'copy/.delta/one'), env)).toBe(false)
  renameSync(join(home, 'ws'), join(home, 'moved'))
  const moved = join(home, 'moved/.delta/one')
  // unpacked elsewhere where the old one is gone: the system may give the new directory its inode
  const facts = readdirSync(join(home, 'state/runs')).map((name) => join(home, 'state/runs', name))
  const [fact = ''] = facts
  expect(JSON.parse(readFileSync(fact, 'utf8')).born).toBe(
    String(statSync(moved, { bigint: true }).birthtimeNs),
  )
  expect(isOwnRun(moved, env)).toBe(true)
  rmSync(join(home, 'copy/.delta'), { recursive: true })
  symlinkSync(join(home, 'moved/.delta'), join(home, 'copy/.delta'))
  expect(isOwnRun(join(home, 'copy/.delta/one'), env)).toBe(false) // T5
  for (const token of ['../../../etc/passwd', '', 'x'.repeat(32), '../env/1']) {
    writeFileSync(join(moved, 'owner'), token)
    expect(isOwnRun(moved, env)).toBe(false)
  }
})

test('T1, T6: a tool may choose another agent, and set something, but no permission; what was listed before goes', () => {
  const { run, env, listed } = scene()
  const list = listingOwnRuns(env)
  list(run, goingOn(tmpdir(), [], ['/lib']), { begins: true })
  const [first] = listed()
  list(run, goingOn('/elsewhere', ['max_iterations=3'], ['/']))
  expect(listed()).toHaveLength(1)
  expect(listed()).not.toEqual([first])
  list(run, goingOn('/elsewhere', ['max_iterations=3']))
  expect(listed()).toHaveLength(1) // nothing new is said
})

test('T1, K4: what was set within a run stays a tool’s, also when the person goes on with the run and sets something else', () => {
  const { run, env } = scene()
  const setByTools = () => ownRun({ directory: run } as RunSummary, env)?.setByTools
  const [typedByTool, typedByPerson] = ['llm.base_url=http://127.0.0.1:9/v1', 'max_iterations=3']
  listingOwnRuns({ ...env, DELTA_PARENT_RUN: '/ws/.delta/above' })(run, goingOn(tmpdir(), [typedByTool]), {
    begins: true,
  })
  expect(setByTools()).toEqual([typedByTool])
  listingOwnRuns(env)(run, goingOn(tmpdir(), [typedByTool, typedByPerson]))
  expect(setByTools()).toEqual([typedByTool])
  listingOwnRuns(env)(run, goingOn(tmpdir(), [typedByPerson]))
  expect(setByTools()).toEqual([])
})

const PROGRAM = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const [, , module, run, state, said, step] = process.argv
let count = 0
for (const name of ['openSync', 'writeFileSync', 'fsyncSync', 'closeSync', 'renameSync', 'unlinkSync', 'mkdirSync']) {
  const original = fs[name]
  fs[name] = (...given) => {
    if (++count > Number(step)) process.kill(process.pid, 'SIGKILL')
    return original(...given)
  }
}
syncBuiltinESMExports()
const { listingOwnRuns } = await import(module)
count = 0
listingOwnRuns({ DELTA_STATE_DIR: state })(run, JSON.parse(said))
`

test('K4: what a tool typed for a run is a tool’s in its fork, too, though a person made that', () => {
  const { home, run, env } = scene()
  const [typedByTool, typedNow] = ['llm.base_url=http://127.0.0.1:1', 'max_iterations=3']
  const going = goingOn(home, [typedByTool, typedNow])
  listingOwnRuns(env)(run, { ...going, setByTools: [typedByTool] }, { begins: true })
  const setByTools = () => ownRun({ directory: run } as RunSummary, env)?.setByTools
  expect(setByTools()).toEqual([typedByTool])
  listingOwnRuns(env)(run, { ...going, setByTools: [typedByTool] }, { begins: true })
  expect(setByTools()).toEqual([typedByTool])
})

/** `npm run test:real` kills between any two steps. */
const STEPS = process.env.DELTA_TESTS === 'real' ? 1 : 4

test('T7: killed between any two steps, a run stays mine with what was said before, or is mine with what is said now', async () => {
  const { home, run, env } = scene()
  const said = (set: string) => goingOn(tmpdir(), [set])
  const program = join(home, 'list.mjs')
  writeFileSync(program, PROGRAM)
  const module = new URL('../dist/index.js', import.meta.url).href
  const setNow = () => ownRun({ directory: run } as RunSummary, env)?.overrides[0]
  listingOwnRuns(env)(run, said('before'), { begins: true })
  let step = 0
  for (let exitCode: number | null = null; exitCode !== 0; step += STEPS) {
    const before = setNow()
    const now = `now-${step}`
    const words = [process.execPath, program, module, run, env.DELTA_STATE_DIR, JSON.stringify(said(now))]
    exitCode = (await runProcess([...words, String(step)], { cwd: home })).exitCode
    expect([before, now]).toContain(setNow())
  }
  expect(step).toBeGreaterThan(8)
}, 120_000)
