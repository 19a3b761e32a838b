import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findRuns } from '../src/index.js'
import { all, journalOf, numbered, paid, place, start, thought, user } from './runs.js'

/** A run that began in this minute. */
function runAt(minute: number, workDirectory?: string): string {
  const at = { timestamp: `2026-11-20T10:${String(minute).padStart(2, '0')}:00Z` }
  const work = workDirectory === undefined ? {} : { work_dir: workDirectory }
  return journalOf([start({ run_id: `r${minute}`, ...work, ...at }), user('Go'), thought(1, paid)])
}

const names = async (...places: Parameters<typeof findRuns>[0]) =>
  (await all(findRuns(places))).map(({ directory }) => directory.split('/').at(-1))

/** A tree: a workspace `a`, a directory of runs `kept` and, deeper, a workspace `b`; beside them, what holds no runs. */
async function tree() {
  const { path, write } = await place({
    'a/.delta/a1/journal.jsonl': runAt(1),
    'a/.delta/a4/journal.jsonl': runAt(4),
    'a/.delta/context_artifacts/memory.md': 'no run',
    'a/src/.delta/inner/journal.jsonl': runAt(9), // a workspace may hold anything
    'kept/k3/journal.jsonl': runAt(3),
    'kept/k5/journal.jsonl': runAt(5),
    'deep/er/b/.delta/b2/journal.jsonl': runAt(2),
    'node_modules/x/.delta/n/journal.jsonl': runAt(8),
    '.cache/c/journal.jsonl': runAt(7),
    'notes/readme.md': 'nothing',
    'file.txt': 'nothing',
  })
  return { write, at: (name: string) => join(path, name) }
}

test('a run, a workspace, a directory of runs and a tree of them are searched, newest first', async () => {
  const { at } = await tree()
  expect(await names(at('kept/k3'))).toEqual(['k3'])
  expect(await names(at('a'))).toEqual(['a4', 'a1'])
  expect(await names(at('kept'))).toEqual(['k5', 'k3'])
  expect(await names(at('deep'))).toEqual(['b2'])
  expect(await names(at('.'))).toEqual(['k5', 'a4', 'k3', 'b2', 'a1'])
  expect(await names(at('notes'))).toEqual([])
})

test('a run that is named twice, or by itself and by its workspace, comes once', async () => {
  const { at } = await tree()
  expect(await names(at('a'), at('a/.delta/a1'), at('./a'))).toEqual(['a4', 'a1'])
})

test('a workspace whose runs are kept elsewhere has those of its own', async () => {
  const { path } = await place()
  const work = join(path, 'work')
  const { path: kept } = await place({
    'mine/journal.jsonl': runAt(1, work),
    'other/journal.jsonl': runAt(2, join(path, 'other')),
  })
  expect(await names({ workDirectory: work, runsDirectory: kept })).toEqual(['mine'])
  expect(await names(kept)).toEqual(['other', 'mine'])
})

test('a damaged run is among them, with its problem; one that never began is empty', async () => {
  const { at, write } = await tree()
  const [first = '', second = ''] = runAt(6).split('\n')
  await write(
    'kept/k6/journal.jsonl',
    `${first}\n${second}\ndamage\n${JSON.stringify(numbered(thought(1, paid), 4))}\n`,
  )
  await write('kept/k0/journal.jsonl', '')
  const runs = await all(findRuns([at('kept')]))
  expect(runs.map(({ runId, status, problem }) => [runId, status, problem?.code])).toEqual([
    ['k6', 'INTERRUPTED', 'ERR_JOURNAL_CORRUPT'],
    ['k5', 'INTERRUPTED', undefined],
    ['k3', 'INTERRUPTED', undefined],
    ['k0', 'EMPTY', undefined],
  ])
})

test('a directory that is not there, or is a file, is refused', async () => {
  const { at } = await tree()
  await expect(names(at('none'))).rejects.toThrow(at('none'))
  await writeFile(at('plain'), '')
  await expect(names(at('plain'))).rejects.toThrow(at('plain'))
})
