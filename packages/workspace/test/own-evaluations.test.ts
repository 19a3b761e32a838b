import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunSummary } from '@delta/journal/runs'
import { expect, onTestFinished, test } from 'vitest'
import { agentHomeOf, isOwnPlan, isOwnRun, listEvaluation, listPlan, ownRun } from '../src/index.js'

const PLAN = JSON.stringify({
  variants: [
    { name: 'luna', agent: 'a1', original: '../fixer', set: ['llm.model=luna', 'llm.seed=${seed}'] },
    { name: 'forked', agent: null, original: null, set: ['llm.model=b'] },
  ],
  tasks: [
    { id: 'calc' },
    { id: 'past', fork: { at: 1, agent: 'a2', original: '../old', set: ['max_iterations=3'] } },
  ],
})

/** An evaluation of two cells with a run each, and a state directory. */
function evaluation() {
  const home = mkdtempSync(join(tmpdir(), 'delta-own-evaluations-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const cells = [
    { cell: 'c1', variant: 'luna', task: 'calc', repeat: 2, seed: 42 },
    { cell: 'c2', variant: 'forked', task: 'past', repeat: 1, seed: 7 },
  ]
  const manifest = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  for (const { cell } of cells)
    mkdirSync(join(home, `x.eval/cells/${cell}/1/runs/${cell}-1`), { recursive: true })
  writeFileSync(join(home, 'x.eval/manifest.jsonl'), manifest(cells))
  writeFileSync(join(home, 'x.eval/cells/c1/cell.json'), JSON.stringify({ ...cells[0], variant: 'forked' }))
  const write = (text: string) => writeFileSync(join(home, 'x.eval/plan.json'), text)
  write(PLAN)
  const env = { DELTA_STATE_DIR: join(home, 'state') }
  const at = (name: string) => join(home, name)
  const run = (cell: string, name = 'x.eval') => at(`${name}/cells/${cell}/1/runs/${cell}-1`)
  const own = (cell: string, name?: string) => ownRun({ directory: run(cell, name) } as RunSummary, env)
  const agent = (cell: string) => agentHomeOf({ directory: run(cell) } as RunSummary, env)
  return { env, at, write, run, own, agent }
}

test('T1: a cell of an evaluation of mine has the agent and the settings that were planned, with its seed', async () => {
  const { env, at, own, agent } = evaluation()
  expect(own('c1')).toBeUndefined()
  listEvaluation(at('x.eval'), env)
  expect(own('c1')).toBeUndefined() // mine, but nothing was planned
  listPlan(at('x.eval'), PLAN, env)
  expect(own('c1')).toMatchObject({ overrides: ['llm.model=luna', 'llm.seed=42'], setByTools: [] })
  expect(await agent('c1')).toBe(at('x.eval/inputs/a1'))
  expect(own('c2')?.overrides).toEqual(['max_iterations=3', 'llm.model=b'])
  expect(await agent('c2')).toBe(at('x.eval/inputs/a2'))
})

test('T1, T2: with another plan.json than was planned, copied or behind a link, a cell is not mine; moved it is', () => {
  const { env, at, write, run, own } = evaluation()
  listEvaluation(at('x.eval'), env)
  listPlan(at('x.eval'), PLAN, env)
  write(PLAN.replace('"a1"', '"../../evil"'))
  expect([isOwnPlan(at('x.eval'), env), isOwnRun(run('c1'), env), own('c1')]).toEqual([
    false,
    false,
    undefined,
  ])
  write(PLAN)
  expect(isOwnPlan(at('x.eval'), env)).toBe(true)
  cpSync(at('x.eval'), at('copy'), { recursive: true })
  expect([isOwnPlan(at('copy'), env), own('c1', 'copy')]).toEqual([false, undefined])
  // one that a tool makes in a workspace, with all the files of mine
  cpSync(at('copy'), at('x.eval/cells/c1/1/workspace/y.eval'), { recursive: true })
  expect(own('c1', 'x.eval/cells/c1/1/workspace/y.eval')).toBeUndefined()
  symlinkSync(at('x.eval'), at('link'))
  expect(own('c1', 'link')).toBeUndefined() // T5
  renameSync(at('x.eval'), at('moved'))
  expect(own('c1', 'moved')?.overrides).toEqual(['llm.model=luna', 'llm.seed=42'])
})

test('K4: what a tool planned is a tool’s in a fork of the cell, too', () => {
  const { env, at, own } = evaluation()
  const within = { ...env, DELTA_PARENT_RUN: '/ws/.delta/above' }
  listEvaluation(at('x.eval'), within)
  listPlan(at('x.eval'), PLAN, within)
  expect(own('c1')?.setByTools).toEqual(['llm.model=luna', 'llm.seed=42'])
})
