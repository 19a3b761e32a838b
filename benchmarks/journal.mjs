/**
 * What the journal costs beside the system calls and the `JSON.parse` nobody can do without.
 *
 *   node benchmarks/journal.mjs [rounds]
 *
 * Every figure is CPU time (user + system), the median of alternations in this one run, except where it says ms of wall
 * time. Goals are ratios; what is printed behind each is the ratio reached.
 */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openJournal, readJournal, readTail, streamJournal } from '../packages/journal/dist/index.js'
import { iterationEvents, journalText } from './journal/events.mjs'

const rounds = Number(process.argv[2] ?? 9)
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-journal-'))
const APPENDS = 2_000
const EVENTS = 100_000

try {
  printTable('Append one event, durably (µs each)', 1.3, await appendTable())
  const path = join(directory, 'long.jsonl')
  writeFileSync(path, journalText(EVENTS))
  printTable(`Read ${EVENTS.toLocaleString('en')} events (ms)`, 1.5, await readTable(path))
  printMemory(path)
  await printTail(path)
  await printGrowth()
} finally {
  rmSync(directory, { recursive: true })
}

async function appendTable() {
  const [thought, request, result] = iterationEvents(1)
  const events = Array.from({ length: APPENDS }, (_, index) => [thought, request, result][index % 3])
  const lines = events.map(
    (event, index) => `${JSON.stringify({ ...event, seq: index + 1, timestamp: '' })}\n`,
  )
  let files = 0
  return await alternate({
    'write + fdatasync (the floor)': () => {
      const descriptor = openSync(join(directory, `floor-${files++}`), 'a')
      const microseconds = cpuOf(() => {
        for (const line of lines) {
          writeSync(descriptor, line)
          fdatasyncSync(descriptor)
        }
      })
      closeSync(descriptor)
      return microseconds / APPENDS
    },
    'journal.append + sync': () => {
      const journal = openJournal(join(directory, `ours-${files++}`))
      const microseconds = cpuOf(() => {
        for (const event of events) {
          journal.append(event)
          journal.sync()
        }
      })
      journal.close()
      return microseconds / APPENDS
    },
  })
}

async function readTable(path) {
  return await alternate({
    'readFile + JSON.parse (the floor)': () =>
      cpuOf(() => {
        const events = []
        for (const line of readFileSync(path, 'utf8').split('\n'))
          if (line !== '') events.push(JSON.parse(line))
        return events.length
      }) / 1000,
    'readJournal (validated)': async () => (await cpuOfAsync(() => readJournal(path))) / 1000,
    'streamJournal (validated)': async () =>
      (await cpuOfAsync(async () => {
        let count = 0
        for await (const event of streamJournal(path)) count += event.seq > 0 ? 1 : 0
        return count
      })) / 1000,
  })
}

/** Peak memory is a process's own, so each way of reading gets one. */
function printMemory(path) {
  const script = fileURLToPath(new URL('journal/memory.mjs', import.meta.url))
  console.log('\nPeak memory while reading them (MB; goal for streamJournal: under 150)')
  for (const how of ['nothing', 'floor', 'readJournal', 'streamJournal']) {
    const megabytes = Number(execFileSync(process.execPath, [script, how, path], { encoding: 'utf8' }))
    console.log(`  ${how.padEnd(36)}${megabytes.toFixed(0).padStart(9)}`)
  }
}

async function printTail(longPath) {
  const wholeMs = await wallMs(() => readJournal(longPath))
  console.log('\nThe last 20 iterations (ms of wall time; goals: under 5, and at most 1/500 of reading all)')
  for (const count of [1_000, 10_000, EVENTS]) {
    const path = count === EVENTS ? longPath : join(directory, `tail-${count}.jsonl`)
    if (count !== EVENTS) writeFileSync(path, journalText(count))
    const endMs = await wallMs(() => readTail(path, 20, { userMessages: false }))
    const firstMs = await wallMs(() => readTail(path, 20))
    const times = []
    for (let round = 0; round < 50; round++) times.push(await wallMs(() => readTail(path, 20)))
    const later = median(times)
    const share = count === EVENTS ? `   1/${Math.round(wholeMs / later)} of ${wholeMs.toFixed(0)} ms` : ''
    console.log(
      `  of ${String(count).padStart(7)} events${later.toFixed(2).padStart(27)}   first call of a process ${firstMs.toFixed(1)}, of the end alone ${endMs.toFixed(1)}${share}`,
    )
  }
}

/** Appends an iteration and rebuilds, again and again: the time for n iterations should grow like n. */
async function printGrowth() {
  const ways = {
    'append + readTail(20)': (path) => readTail(path, 20),
    'append + read what is new': async (path, from) =>
      (await readJournal(path, { fromOffset: from })).endOffset,
  }
  console.log('\nAppend an iteration and rebuild (ms of CPU; goal: exponent about 1)')
  for (const [name, rebuild] of Object.entries(ways)) {
    const points = []
    for (const count of [125, 250, 500, 1_000]) {
      const times = []
      for (let round = 0; round < Math.max(3, rounds / 3); round++)
        times.push(await growth(count, rebuild, `${name}-${round}`))
      points.push([count, median(times) / 1000])
    }
    const figures = points.map(([count, ms]) => `${count}: ${ms.toFixed(0)}`).join('   ')
    console.log(`  ${name.padEnd(30)}${figures}   exponent ${exponent(points).toFixed(2)}`)
  }
}

async function growth(count, rebuild, name) {
  const path = join(directory, `growth-${name.replace(/\W/g, '')}-${count}`)
  const journal = openJournal(path)
  const microseconds = await cpuOfAsync(async () => {
    let offset = 0
    for (let iteration = 1; iteration <= count; iteration++) {
      journal.append(...iterationEvents(iteration))
      journal.sync()
      offset = await rebuild(path, offset)
    }
  })
  journal.close()
  rmSync(path)
  return microseconds
}

/** The slope of a line through the logarithms: 1 is linear, 2 quadratic. */
function exponent(points) {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)])
  const mean = (index) => logs.reduce((sum, point) => sum + point[index], 0) / logs.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const over = logs.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  return over / logs.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
}

/** The ways take turns, so that drift hits all of them alike; the first round only warms up. */
async function alternate(ways) {
  const figures = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const figure = await way()
      if (round > 0) figures[name].push(figure)
    }
  }
  return Object.fromEntries(Object.entries(figures).map(([name, values]) => [name, median(values)]))
}

function printTable(title, goal, table) {
  const [floor] = Object.values(table)
  console.log(`\n${title}; goal: at most ${goal} × the floor`)
  for (const [name, value] of Object.entries(table)) {
    console.log(
      `  ${name.padEnd(36)}${value.toFixed(1).padStart(9)}${(value / floor).toFixed(2).padStart(8)} ×`,
    )
  }
}

function cpuOf(work) {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function cpuOfAsync(work) {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

async function wallMs(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)]
}
