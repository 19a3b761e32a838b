import { join } from 'node:path'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { openJournal, readJournal, readTail, streamJournal } from '../src/index.js'
import { createRun, openRun, repairRun } from '../src/runs.js'

// `tsc` reads this file, too: what it refuses here, it would refuse to every program with strict settings.

const maybe = <Value>(value: Value): Value | undefined => value

test('an option may be undefined, and a list constant', async () => {
  const { path } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const events = [
    { type: 'ENGINE_START', run_id: 'r1' },
    { type: 'USER_MESSAGE', content: 'Hi' },
  ] as const
  const run = await createRun(path, { runId: maybe('r1'), events: () => events })
  const record = run.requests.record({ iteration: 1, request: {}, blocks: undefined })
  expect(record.body.toString()).toBe('{}')
  run.requests.record({ iteration: 2, request: {}, blocks: [{ source_id: 'a' }] as const })
  run.close()
  const waiting = { onWait: undefined, signal: maybe(new AbortController().signal) }
  const again = await openRun(run.directory, { ...waiting, force: undefined, sync: undefined })
  again.close()
  expect((await repairRun(run.directory, { ...waiting, force: undefined })).changed).toBe(false)
})

test('events of a kind of your own keep their type, in and out', async () => {
  type Order = { seq: number; timestamp: string; type: 'ORDERED' | 'PAID'; cup: string }
  const { path: directory } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const path = join(directory, 'orders.jsonl')
  const orders = openJournal<Order>(path)
  const [ordered] = orders.append({ type: 'ORDERED', cup: 'espresso' })
  orders.close()
  const cups: (string | undefined)[] = [ordered?.cup]
  for await (const { cup } of streamJournal<Order>(path)) cups.push(cup)
  cups.push((await readJournal<Order>(path)).events[0]?.cup)
  cups.push((await readTail<Order>(path, { events: 1 })).events[0]?.cup)
  expect(cups).toEqual(Array(4).fill('espresso'))
})
