import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { RunResult } from '../src/index.js'
import { RETRY } from '../src/outcome.js'

type FailureCode = keyof typeof RETRY

/** Those of runs that did not fail. `killed` is what a journal without an end says. */
const OTHERS = {
  answered: 'COMPLETED',
  signal: 'INTERRUPTED',
  question: 'WAITING_FOR_INPUT',
  approval: 'WAITING_FOR_INPUT',
  killed: 'INTERRUPTED',
} satisfies Record<Exclude<RunResult['reasonCode'], FailureCode> | 'killed', RunResult['status']>

test('the page of reason codes has each code that an engine gives, with its status, and no other', async () => {
  const page = await readFile(new URL('../../../docs/reference/reason-codes.md', import.meta.url), 'utf8')
  const rows = page.match(/^\| [A-Z_]+ \| .*$/gm) ?? []
  const listed = rows.map((row) => {
    const [, status, code] = /^\| ([A-Z_]+) \| `(\w+)` \| (agent|infra) \|/.exec(row) ?? [row]
    return [code, status]
  })
  const failures = Object.keys(RETRY).map((code) => [code, 'FAILED'])
  expect(listed.sort()).toEqual([...failures, ...Object.entries(OTHERS)].sort())
})
