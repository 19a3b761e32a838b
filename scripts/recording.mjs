import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeWorkspace, playDemo } from './demo.mjs'
import { root } from './lib/environment.mjs'
import { makeScratchCheckout } from './lib/scratch.mjs'
import { COLUMNS, drawTerminal } from './lib/terminal.mjs'

const RECORDING = 'docs/assets/demo.svg'

/** The pace of a check: on a busy machine, too, the run resumes before the next file is counted. */
const SLOW = { secondsPerFile: 5 }

/**
 * Plays the demo.
 *
 * @param {{ secondsPerFile?: number }} [pace]
 * @returns {Promise<string>} what a terminal would show, with the clone in the home directory
 */
export async function recordDemo(pace) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'delta-recording-')))
  const clone = join(directory, 'delta')
  const shown = join(directory, 'shown')
  try {
    makeScratchCheckout(clone)
    const workspace = `workspaces/${makeWorkspace(join(clone, 'workspaces'))}`
    const output = openSync(shown, 'a')
    const code = await playDemo(workspace, { ...pace, cwd: clone, output })
    closeSync(output)
    const text = readFileSync(shown, 'utf8').trim()
    if (code !== 0) throw new Error(`The demo ends with ${code}:\n${text}`)
    return text.replaceAll(clone, '~/delta').replace(new RegExp(`.{${COLUMNS}}(?=.)`, 'g'), '$&\n')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * A recording without what differs from run to run: times and identifiers.
 *
 * @param {string} text
 */
export function withoutVolatile(text) {
  return text
    .replace(/\d{8}_\d{6}_[0-9a-f]{6}/g, 'RUN')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/[\d.]+ m?s\b/g, '0 ms')
    .replace(/(kill -9|from process) \d+/g, '$1 PID')
    .replace(/(?<=PID on )\S+(?=,)/g, 'HOST')
    .replace(/("\w*id":")[^"]*/g, '$1ID')
}

/** @param {boolean} check true: change nothing, a difference is a problem */
async function main(check) {
  const path = join(root, RECORDING)
  const drawn = drawTerminal(
    await recordDemo(check ? SLOW : undefined),
    'The demo: an agent is killed in the middle of a tool, and goes on',
  )
  if (!check) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, drawn)
    console.log(`${RECORDING}: written`)
    return 0
  }
  if (withoutVolatile(drawn) === withoutVolatile(readFileSync(path, 'utf8'))) return 0
  console.error(
    `${RECORDING} is not what the demo shows now: \`node scripts/recording.mjs\` records it anew.`,
  )
  return 1
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.includes('--check'))
}
