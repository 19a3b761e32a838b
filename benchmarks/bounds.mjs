/**
 * Whether the bounds that a change is most likely to break still hold, measured as `startup.mjs` and `loop.mjs` do, but shorter: a
 * start and a run of one answer beside an empty script, a long run beside a loop that writes the same records.
 *
 *   node benchmarks/bounds.mjs        exit code 1 if a ratio is more than half above its bound
 *
 * Ratios are medians of alternating CPU times. A ratio that is too high is measured once more, and the lower one counts: noise of a
 * busy machine only adds. The long run is not measured beside the durable loop here, for that writes two files and a run six hundred:
 * what their ratio shows first is how fast this machine's file system makes files.
 */
import './certificates.mjs'
import { goalOf } from './goals.mjs'
import { compare } from './loop/compare.mjs'
import { NAMES as LOOPS } from './loop/programs.mjs'
import { median } from './report.mjs'
import { inTurns, prepareStarts, NAMES as STARTS } from './startup/starts.mjs'

const TOLERANCE = 1.5
const { starts, close } = await prepareStarts()

/** By the figure of the bound: how it is measured, and which benchmark shows it whole. */
const measurements = {
  'startup.expand': () => timesFloor(STARTS.expand),
  'startup.run': () => timesFloor(STARTS.http),
  'loop.over_records': timesRecordingLoop,
}

async function timesFloor(name) {
  const pairs = await inTurns(starts[STARTS.floor], starts[name], { rounds: 9 })
  return median(pairs.map(([floor, { cpu }]) => cpu / floor.cpu))
}

async function timesRecordingLoop() {
  const measured = await compare(300, { [LOOPS.recordingFloor]: 3, [LOOPS.delta]: 3 })
  return measured[LOOPS.delta].cpuMs / measured[LOOPS.recordingFloor].cpuMs
}

try {
  for (const [figure, measure] of Object.entries(measurements)) {
    const { atMost, what } = goalOf(figure)
    let ratio = await measure()
    if (ratio > atMost * TOLERANCE) ratio = Math.min(ratio, await measure())
    console.log(`${what}: ${ratio.toFixed(2)}, bound ${atMost}`)
    if (ratio <= atMost * TOLERANCE) continue
    const [benchmark] = figure.split('.')
    console.error(`  More than half above its bound. The whole table: npm run bench:${benchmark}`)
    process.exitCode = 1
  }
} finally {
  await close()
}
