import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { demoCommands, makeWorkspace } from './demo.mjs'
import { root, testEnvironment } from './lib/environment.mjs'
import { runOrThrow } from './lib/pack.mjs'
import { makeScratchCheckout } from './lib/scratch.mjs'
import { drawTerminal } from './lib/terminal.mjs'

const RECORDING = 'docs/assets/demo.svg'

/**
 * Runs what the demo runs.
 *
 * @returns {Promise<string>} what a terminal would show, with the clone in the home directory
 */
export async function recordDemo() {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'delta-recording-')))
  const clone = join(directory, 'delta')
  try {
    makeScratchCheckout(clone)
    const workspace = `workspaces/${makeWorkspace(join(clone, 'workspaces'))}`
    const shown = []
    for (const command of demoCommands(workspace)) {
      const options = { cwd: clone, env: { ...testEnvironment(), NO_COLOR: '1' } }
      const output = await runOrThrow(['sh', '-c', `exec 2>&1\n${command}`], options)
      shown.push(`$ ${command}\n${output.trimEnd()}`)
    }
    return shown.join('\n\n').replaceAll(clone, '~/delta')
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
    .replace(/\d+ ms\b/g, '0 ms')
    .replace(/("\w*id":")[^"]*/g, '$1ID')
}

/** @param {boolean} check true: change nothing, a difference is a problem */
async function main(check) {
  const path = join(root, RECORDING)
  const drawn = drawTerminal(await recordDemo(), 'The demo: an agent at work, and its journal')
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
