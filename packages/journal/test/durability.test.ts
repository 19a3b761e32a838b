import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { message, needsBuild, readText, temporaryDirectory, toLines } from './helpers.js'

/** What a script did to the disk, in order. Its first argument is a new directory, called `work` here. */
function callsOf(script: string, ...args: string[]): string[] {
  needsBuild()
  const work = temporaryDirectory()
  const log = join(work, 'calls')
  writeFileSync(log, '')
  const here = import.meta.dirname
  execFileSync(
    process.execPath,
    ['--import', join(here, 'log-calls.mjs'), join(here, script), work, ...args],
    {
      env: { ...process.env, LOG_CALLS: log },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const calls = readText(log).replaceAll(basename(work), 'work')
  return calls.trimEnd().split('\n')
}

test('the first events of a run are synced before it can be seen', () => {
  const calls = callsOf('sync-order.mjs')
  const wanted = [
    'fsyncSync work', // the name of .delta
    'fsyncSync .delta', // that of the run's directory
    'fsyncSync lease', // the number of its owner
    'writeSync journal.jsonl',
    'fdatasyncSync journal.jsonl',
    'renameSync VERSION',
    'renameSync LATEST',
  ]
  const positions = wanted.map((call) => calls.indexOf(call))
  expect(positions).not.toContain(-1)
  expect(positions).toEqual(positions.toSorted((a, b) => a - b))
})

test('an iteration takes three syncs: the parts of the request, the journal before the tool starts, and before the next request', () => {
  const calls = callsOf('sync-order.mjs')
  const iteration = calls.slice(calls.indexOf('fsyncSync io') + 1) // the name of the log of parts
  expect(iteration.filter((call) => /sync/.test(call))).toEqual([
    'fdatasyncSync parts.jsonl', // before an event that names a record can survive
    'fdatasyncSync journal.jsonl', // THOUGHT, ACTION_REQUEST
    'fdatasyncSync journal.jsonl', // ACTION_RESULT
  ])
})

test('without sync nothing of a run is synced', () => {
  const calls = callsOf('sync-order.mjs', 'no-sync')
  expect(calls.filter((call) => /sync.* (journal|parts|.*_1)\.json/.test(call))).toEqual([])
  expect(calls).toContain('writeSync journal.jsonl')
})

test('a torn tail is kept, durably, before it is cut off; then the cut is', () => {
  const calls = callsOf('open-journal.mjs', `${toLines([message(1)])}{"seq":2,"ty`)
  expect(calls.map((call) => call.replace(/torn-.*/, 'torn'))).toEqual([
    'writeSync journal.torn',
    'fsyncSync journal.torn',
    'fsyncSync work',
    'ftruncateSync journal.jsonl',
    'fdatasyncSync journal.jsonl',
  ])
})

test('a last event without its newline is completed durably, before anything follows it', () => {
  const calls = callsOf('open-journal.mjs', toLines([message(1)]).trimEnd())
  expect(calls).toEqual(['writeSync journal.jsonl', 'fdatasyncSync journal.jsonl'])
})

test('the name of a new journal survives a power cut, too, also if its maker was killed at once', () => {
  expect(callsOf('open-journal.mjs')).toEqual(['fsyncSync work'])
  expect(callsOf('open-journal.mjs', '')).toEqual(['fsyncSync work'])
})

test('what a killed writer left is synced before anything stands on it', () => {
  expect(callsOf('open-journal.mjs', toLines([message(1)]), 'sync')).toEqual(['fdatasyncSync journal.jsonl'])
})

test('a replaced file is whole before it has its name, and keeps it', () => {
  const calls = callsOf('replace-file.mjs')
  expect(calls.map((call) => call.replace(/\.[0-9a-f]+\.tmp$/, '.tmp'))).toEqual([
    'fsyncSync a.json.tmp',
    'renameSync a.json',
    'fsyncSync work',
  ])
})

test('a damaged journal has its second name, durably, before another takes its place', () => {
  const calls = callsOf('repair-journal.mjs').map((call) => call.replace(/repair-.*/, 'repair'))
  expect(calls.map((call) => call.replace(/\.[0-9a-f]+\.tmp$/, '.tmp'))).toEqual([
    'fsyncSync journal.before-repair',
    'fsyncSync work',
    'fsyncSync journal.jsonl.tmp',
    'renameSync journal.jsonl',
    'fsyncSync work',
  ])
})

test('a run of an old layout is written anew durably before it has its name, and keeps it', () => {
  const calls = callsOf('open-old-run.mjs').map((call) => call.replace(/\.[0-9a-f]+\.tmp$/, '.tmp'))
  const first = calls.indexOf('fsyncSync note.json')
  expect(calls.slice(first, first + 7)).toEqual([
    'fsyncSync note.json',
    'fsyncSync io',
    'fsyncSync .old-continued.tmp',
    'fsyncSync journal.jsonl',
    'fsyncSync .old-continued.tmp',
    'renameSync old-continued',
    'fsyncSync .delta',
  ])
})
