import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { smallDisk, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { openBooks } from '../src/books.js'

const TOKENS = { input: 100, cache_read: 800, cache_write: 0, output: 20, reasoning: 0 }
const timestamp = new Date(0).toISOString()
const START = { type: 'ENGINE_START', run_id: 'r', parent_run: 'root' }
const THOUGHT = {
  type: 'THOUGHT',
  iteration: 1,
  content: '',
  tool_calls: [],
  tokens: TOKENS,
  price: { input: 1, output: 1 },
}

/** Directories of runs, and their files. */
async function runs() {
  const { path } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const at = (name: string) => join(path, name)
  let seq = 0
  return {
    at,
    journal: async (name: string, ...events: object[]) => {
      await mkdir(at(name), { recursive: true })
      const lines = events.map((event) => `${JSON.stringify({ seq: ++seq, timestamp, ...event })}\n`)
      await appendFile(join(at(name), 'journal.jsonl'), lines.join(''))
    },
    tree: (...lines: object[]) =>
      appendFile(
        at('root/tree.jsonl'),
        lines.map((line) => `${JSON.stringify({ run_id: 'r', ...line })}\n`).join(''),
      ),
  }
}

test('what was added to a journal counts once, also half a line that is finished later', async () => {
  const { at, journal } = await runs()
  await journal('root', START, THOUGHT)
  const books = openBooks()
  const tokens = async () => {
    await books.readTree(at('root'), { limited: [at('root')], run: at('root') })
    return books.spentBy(at('root')).all.tokens
  }
  expect(await tokens()).toBe(920)
  expect(await tokens()).toBe(920)
  const line = JSON.stringify({ seq: 9, timestamp, ...THOUGHT })
  await appendFile(join(at('root'), 'journal.jsonl'), line.slice(0, 50))
  expect(await tokens()).toBe(920)
  await appendFile(join(at('root'), 'journal.jsonl'), line.slice(50))
  expect(await tokens()).toBe(1840)
  await appendFile(join(at('root'), 'journal.jsonl'), '\n')
  expect(await tokens()).toBe(1840)
})

test('a run counts with all below it that a line or a result names, and without those beside it', async () => {
  const { at, journal, tree } = await runs()
  const result = {
    type: 'ACTION_RESULT',
    iteration: 1,
    action_id: 'a',
    tool_name: 't',
    status: 'SUCCESS',
    observation_content: '',
  }
  await journal('root', { ...START, parent_run: undefined })
  await journal('middle', START, THOUGHT, {
    ...result,
    child_runs: [{ run_id: 'r', directory: at('named') }],
  })
  for (const name of ['called', 'named', 'below', 'beside']) await journal(name, START, THOUGHT)
  const listed = (name: string, caller: string) => ({
    type: 'RUN',
    directory: at(name),
    caller: { directory: at(caller), action_id: 'a' },
  })
  await tree(
    listed('middle', 'root'),
    listed('called', 'middle'),
    listed('named', 'moved'),
    listed('below', 'named'),
    listed('beside', 'root'),
  )
  const books = openBooks()
  const middle = { limited: [at('middle')], run: at('middle') }
  await books.readTree(at('root'), middle)
  expect(books.spentBy(at('middle'))).toMatchObject({ all: { runs: 4, tokens: 4 * 920 }, below: { runs: 3 } })
  await books.readTree(at('root'), { limited: [at('root')], run: at('middle') })
  expect(books.spentBy(at('root'))).toMatchObject({ all: { runs: 6 }, below: { runs: 5, tokens: 5 * 920 } })
  await rm(at('below'), { recursive: true })
  await expect(books.readTree(at('root'), middle)).rejects.toThrow(
    `${at('below')} is gone, and did not say what it spent.`,
  )
  const spent = {
    requests: 2,
    unreported: 0,
    estimated: 0,
    tokens: { ...TOKENS, input: 200 },
    cost: 1,
    priced: 1,
  }
  const totals = { own: { runs: 1, ...spent }, all: { runs: 1, ...spent }, by_model: {} }
  await tree({ type: 'END', directory: at('below'), totals })
  await books.readTree(at('root'), middle)
  expect(books.spentBy(at('middle')).all.tokens).toBe(4 * 920 + 100)
})

test('a run that a result names and the tree does not is missing', async () => {
  const { at, journal, tree } = await runs()
  await journal(
    'root',
    { ...START, parent_run: undefined },
    {
      type: 'ACTION_RESULT',
      iteration: 1,
      action_id: 'a',
      tool_name: 't',
      status: 'SUCCESS',
      observation_content: '',
      child_runs: [{ run_id: 'r', directory: at('child') }],
    },
  )
  await journal('child', START)
  const reading = openBooks().readTree(at('root'), { limited: [at('root')], run: at('root') })
  await expect(reading).rejects.toThrow(`${at('root/tree.jsonl')} does not list ${at('child')}.`)
  await tree({ type: 'RUN', directory: at('child'), caller: { directory: at('root'), action_id: 'a' } })
  await openBooks().readTree(at('root'), { limited: [at('root')], run: at('root') })
})

test('the end of a run whose beginning is not listed tells that the list was removed before it was first read', async () => {
  const { at, journal, tree } = await runs()
  await journal('root', { ...START, parent_run: undefined })
  await journal('child', START)
  await tree({ type: 'END', directory: at('child') })
  const books = openBooks()
  const about = { limited: [at('root')], run: at('root') }
  for (
    let reading = 1;
    reading <= 2;
    reading++ // and it stays so
  )
    await expect(books.readTree(at('root'), about)).rejects.toThrow(
      `${at('root/tree.jsonl')} does not say who called ${at('child')}.`,
    )
})

test('a list that nobody can write ends the runs that read it: no further run would be counted', async ({
  skip,
}) => {
  await using disk = await smallDisk('size=64k')
  if (!disk.mounted) return skip()
  const root = join(disk.path, 'root')
  await mkdir(root)
  const called = { type: 'RUN', run_id: 'r', directory: root, caller: { directory: root, action_id: 'a' } }
  await writeFile(join(root, 'tree.jsonl'), `${JSON.stringify(called)}\n`)
  const about = { limited: [root], run: root }
  await writeFile(join(root, 'journal.jsonl'), `${JSON.stringify({ seq: 1, timestamp, ...START })}\n`)
  await openBooks().readTree(root, about)
  disk.makeReadOnly()
  await expect(openBooks().readTree(root, about)).rejects.toThrow(
    `cannot read and write ${root}/tree.jsonl (read-only file system).`,
  )
})

test('an answer that no event names counts by its record, and once when an event names it', async () => {
  const { at, journal } = await runs()
  await journal('root', START, THOUGHT)
  await mkdir(at('root/io/invocations'), { recursive: true })
  const record = (name: string, fields: object) =>
    appendFile(join(at('root/io/invocations'), name), JSON.stringify(fields))
  const { tokens, price } = { tokens: TOKENS, price: { input: 1, output: 1 } }
  await record('20261120T093000000_2.json', { response: {}, tokens, price })
  await record('20261120T093000001_2.json', { error: {} })
  const books = openBooks()
  const spent = async () => {
    await books.readTree(at('root'), { limited: [at('root')], run: at('root') })
    return books.spentBy(at('root')).all
  }
  expect(await spent()).toMatchObject({ tokens: 1840, unknown: undefined })
  const llm_invocation_ref = 'io/invocations/20261120T093000000_2.json'
  await journal('root', { ...THOUGHT, iteration: 2, llm_invocation_ref })
  expect(await spent()).toMatchObject({ tokens: 1840, unknown: undefined })
  await record('20261120T093000002_3.json', { response: {}, tokens: 'many', price: 7 })
  expect(await spent()).toMatchObject({ tokens: 1841, unknown: 'unreported' })
})
