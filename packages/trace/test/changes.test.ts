import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '@delta/snapshots'
import { areInstalled } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { type KnownChanges, openTrace, type StepChanges } from '../src/index.js'
import { calling, place, request, result, runOf, type Said, start, thought, user } from './runs.js'

/** A workspace, and a run whose snapshots are taken of it. */
async function workspace() {
  const { path } = await place({ 'workspace/kept.txt': 'kept\n' })
  const directory = join(path, 'workspace')
  const store = await openStore(join(path, 'snapshots'))

  async function snapshot(iteration: number, more: object = {}): Promise<Said> {
    const { id } = await store.take({ files: { directory } })
    return { type: 'SNAPSHOT', iteration, snapshot_id: id, ...more }
  }

  /** What each iteration did, in one line each: who, then kinds and paths. */
  async function changesOf(events: readonly Said[], upTo: number) {
    const run = await runOf(events)
    await store.copyTo(join(run, 'snapshots'))
    const trace = await openTrace(run)
    const changes: (StepChanges | null)[] = []
    for (let n = 1; n <= upTo; n++) changes.push(await trace.changes(n))
    return { changes, lines: changes.map(inOneLine), run }
  }

  return {
    write: (name: string, text: string) => writeFileSync(join(directory, name), text),
    directory,
    snapshot,
    changesOf,
  }
}

function inOneLine(changes: StepChanges | null): string {
  if (changes === null) return 'none'
  if ('unknown' in changes) return `unknown: ${changes.unknown}`
  const { iterations, files } = changes
  return [iterations.join('+'), ...files.map(({ kind, path }) => `${kind} ${path}`)].join(' ').trim()
}

/** An iteration that starts a command. */
const working = (n: number): Said[] => [calling(n, `c${n}`), request(n, `c${n}`), result(n, `c${n}`)]
const givenUp = (iteration: number): Said => ({
  type: 'SNAPSHOT',
  iteration,
  snapshot_id: null,
  reason: 'time',
  message: 'a command started after 0.2 s',
})

describe.skipIf(!areInstalled('git'))('what an iteration did to the files', () => {
  test('is what differs between the snapshot before it and its own, with the contents of both', async () => {
    const { write, directory, snapshot, changesOf } = await workspace()
    const events = [start(), user('Go'), await snapshot(0), ...working(1)]
    write('new.txt', 'one\n')
    rmSync(join(directory, 'kept.txt'))
    events.push(await snapshot(1), ...working(2))
    write('new.txt', 'two\n')
    symlinkSync('new.txt', join(directory, 'link'))
    events.push(await snapshot(2), thought(3))
    const { changes, lines } = await changesOf(events, 4)
    expect(lines).toEqual(['1 D kept.txt A new.txt', '2 A link M new.txt', '', ''])
    const [, { files: [link, changed] = [] }] = changes as [unknown, KnownChanges]
    expect(link).toMatchObject({ before: null, after: { type: 'link', size: 7 } })
    expect(String(await link?.after?.read())).toBe('new.txt')
    expect(String(await changed?.before?.read())).toBe('one\n')
    expect(String(await changed?.after?.read())).toBe('two\n')
  })

  test('is told of several together where no snapshot lies between; of one without a command it is nothing', async () => {
    const { write, snapshot, changesOf } = await workspace()
    const events = [start(), user('Go'), await snapshot(0), ...working(1)]
    write('1', '')
    events.push(givenUp(1), ...working(2))
    write('2', '')
    events.push(await snapshot(2), thought(3), user('And?'), ...working(4))
    write('4', '')
    events.push(await snapshot(4), ...working(5), givenUp(5), thought(6))
    const { lines } = await changesOf(events, 6)
    expect(lines).toEqual([
      '1+2 A 1 A 2',
      '1+2 A 1 A 2',
      '',
      '4 A 4',
      'unknown: No snapshot was taken after it: a command started after 0.2 s.',
      '',
    ])
  })

  test('is not known without a snapshot from before, or without the store; a run without any has no changes to show', async () => {
    const { write, snapshot, changesOf } = await workspace()
    const events = [start(), user('Go'), givenUp(0), ...working(1)]
    write('1', '')
    events.push(await snapshot(1), ...working(2))
    write('2', '')
    events.push(await snapshot(2))
    const { lines, run } = await changesOf(events, 2)
    expect(lines).toEqual([
      'unknown: No snapshot was taken before it: a command started after 0.2 s.',
      '2 A 2',
    ])
    rmSync(join(run, 'snapshots'), { recursive: true })
    expect(inOneLine(await (await openTrace(run)).changes(2))).toContain('unknown: There is no snapshot ')
    expect((await changesOf([start(), user('Go'), ...working(1)], 1)).lines).toEqual(['none'])
  })

  test('leaves out, and names, what one of the snapshots left out: it was neither added nor removed', async () => {
    const { write, directory, snapshot, changesOf } = await workspace()
    const omitted = [
      { root: 'files', path: 'big', why: 'large', bytes: 2e8 },
      { root: 'artifacts', path: 'seen.txt', why: 'fifo' },
    ]
    write('big', 'before it was too large')
    const events = [start(), user('Go'), await snapshot(0), ...working(1)]
    write('seen.txt', '')
    rmSync(join(directory, 'big')) // the snapshot says that it is there, and too large
    events.push(await snapshot(1, { omitted, omitted_count: 250 }))
    const { changes } = await changesOf(events, 1)
    expect(changes[0]).toMatchObject({
      files: [{ path: 'seen.txt', kind: 'A' }],
      omitted: [{ path: 'big', why: 'large' }],
      omittedCount: 250,
    })
  })

  test('is the command of the hook before a request, for the iteration that its snapshot follows', async () => {
    const { write, snapshot, changesOf } = await workspace()
    const hook = { type: 'HOOK_EXECUTION_AUDIT', hook_name: 'pre_llm_request', status: 'SUCCESS' }
    const events = [start(), user('Go'), { ...hook, iteration: 1 }, await snapshot(0), ...working(1)]
    write('1', '')
    events.push({ ...hook, iteration: 2 })
    write('hook', '')
    events.push(await snapshot(1), thought(2))
    expect((await changesOf(events, 2)).lines).toEqual(['1 A 1 A hook', ''])
  })

  test("of a fork without files is its parent's up to where it was cut, and its own from there on", async () => {
    const { write, directory, snapshot, changesOf } = await workspace()
    const inherited = { inherited: true }
    const events = [start(inherited), user('Go', inherited), { ...(await snapshot(0)), ...inherited }]
    write('1', '')
    events.push(...working(1).map((event) => ({ ...event, ...inherited })), {
      ...(await snapshot(1)),
      ...inherited,
    })
    rmSync(join(directory, 'kept.txt')) // another workspace
    const parent = { run_id: 'p', directory: '/p', iteration: 1, seq: 6, sha256: '' }
    events.push(start({ parent }), await snapshot(1), ...working(2))
    write('2', '')
    events.push(await snapshot(2))
    expect((await changesOf(events, 2)).lines).toEqual(['1 A 1', '2 A 2'])
  })
})
