/**
 * What the journal costs beside the system calls and the `JSON.parse` nobody can do without.
 *
 *   node benchmarks/journal.mjs [rounds] [--write]
 *
 * Every figure is CPU time (user + system), the median of alternations in this one run, except where it says ms of wall
 * time. Goals are ratios, and so is the last column.
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
import { runEventSchema as schema } from '../packages/journal/dist/runs.js'
import { iterationEvents, journalText } from './journal/events.mjs'
import { median, numbers, report } from './report.mjs'

const [rounds = 9] = numbers()
const directory = mkdtempSync(join(tmpdir(), 'delta-bench-journal-'))
const APPENDS = 2_000
const EVENTS = 100_000

try {
  const append = besideFloor('Append one event, durably (goal: at most 1.3)', 'µs', await appendFigures())
  const path = join(directory, 'long.jsonl')
  writeFileSync(path, journalText(EVENTS))
  const title = `Read ${EVENTS.toLocaleString('en')} events (goal: at most 1.5)`
  const read = besideFloor(title, 'ms', await readFigures(path))
  const tail = await tailTable(path)
  report('journal', {
    tables: [append, read, memoryTable(path), tail, await growthTable()],
    figures: {
      append_ratio: append.rows[1]['× floor'],
      tail_ms: tail.rows.at(-1)['median, ms'],
      tail_events: tail.rows.at(-1)['of events'],
    },
  })
} finally {
  rmSync(directory, { recursive: true })
}

async function appendFigures() {
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
      const journal = openJournal(join(directory, `ours-${files++}`), { schema })
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

async function readFigures(path) {
  return await alternate({
    'readFile + JSON.parse (the floor)': () =>
      cpuOf(() => {
        const events = []
        for (const line of readFileSync(path, 'utf8').split('\n'))
          if (line !== '') events.push(JSON.parse(line))
        return events.length
      }) / 1000,
    'readJournal (validated)': async () => (await cpuOfAsync(() => readJournal(path, { schema }))) / 1000,
    'streamJournal (validated)': async () =>
      (await cpuOfAsync(async () => {
        let count = 0
        for await (const event of streamJournal(path, { schema })) count += event.seq > 0 ? 1 : 0
        return count
      })) / 1000,
  })
}

/** Peak memory is a process's own, so each way of reading gets one. */
function memoryTable(path) {
  const script = fileURLToPath(new URL('journal/memory.mjs', import.meta.url))
  const rows = ['nothing', 'floor', 'readJournal', 'streamJournal'].map((how) => {
    const megabytes = Number(execFileSync(process.execPath, [script, how, path], { encoding: 'utf8' }))
    return { what: how, MB: megabytes.toFixed(0) }
  })
  return { title: 'Peak memory while reading them (goal for streamJournal: under 150 MB)', rows }
}

async function tailTable(longPath) {
  const wholeMs = await wallMs(() => readJournal(longPath, { schema }))
  const rows = []
  for (const count of [1_000, 10_000, EVENTS]) {
    const path = count === EVENTS ? longPath : join(directory, `tail-${count}.jsonl`)
    if (count !== EVENTS) writeFileSync(path, journalText(count))
    const firstMs = await wallMs(() => readTail(path, { iterations: 20, schema }))
    const times = []
    for (let round = 0; round < 50; round++)
      times.push(await wallMs(() => readTail(path, { iterations: 20, schema })))
    const later = median(times)
    rows.push({
      'of events': count.toLocaleString('en'),
      'median, ms': later.toFixed(2),
      'first of a process, ms': firstMs.toFixed(1),
      'part of reading all': count === EVENTS ? `1/${Math.round(wholeMs / later)}` : '',
    })
  }
  return { title: 'The last 20 iterations, wall time (goals: under 5 ms, and 1/500 of reading all)', rows }
}

/** Appends an iteration and rebuilds, again and again: the time for n iterations should grow like n. */
async function growthTable() {
  const ways = {
    'append, `readTail` of 20': (path) => readTail(path, { iterations: 20, schema }),
    'append, read what is new': async (path, from) =>
      (await readJournal(path, { fromOffset: from, schema })).endOffset,
  }
  const rows = []
  for (const [what, rebuild] of Object.entries(ways)) {
    const points = []
    for (const count of [125, 250, 500, 1_000]) {
      const times = []
      for (let round = 0; round < Math.max(3, rounds / 3); round++)
        times.push(await growth(count, rebuild, `${what}-${round}`))
      points.push([count, median(times) / 1000])
    }
    const columns = points.map(([count, ms]) => [`${count} times, ms`, ms.toFixed(0)])
    rows.push({ what, ...Object.fromEntries(columns), exponent: exponent(points).toFixed(2) })
  }
  return { title: 'Append an iteration and rebuild (goal: an exponent of about 1)', rows }
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

function besideFloor(title, unit, figures) {
  const [floor] = Object.values(figures)
  const rows = Object.entries(figures).map(([what, value]) => ({
    what,
    [unit]: value.toFixed(1),
    '× floor': (value / floor).toFixed(2),
  }))
  return { title, rows }
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
