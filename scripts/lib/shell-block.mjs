import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { testEnvironment } from './environment.mjs'
import { makeCommands, makeScratchCheckout } from './scratch.mjs'
import { capture } from './step.mjs'

/**
 * @typedef {{ run: (script: string) => Promise<{ code: number, output: string }>,
 *   write: (path: string, content: string) => void }} Shell
 */

/**
 * Runs the shell lines of one document, in order, in a scratch copy of the repository's root
 * with `delta` and `delta-sessions` on PATH. Only `examples/` is really copied; agents write there.
 *
 * @returns {Shell & { close: () => void }}
 */
export function openScratchShell() {
  const directory = mkdtempSync(join(tmpdir(), 'delta-readme-'))
  const checkout = join(directory, 'delta')
  const commands = join(directory, 'bin')
  makeScratchCheckout(checkout)
  makeCommands(commands)
  return {
    ...openShell(checkout, commands, { DELTA_STATE_DIR: join(directory, 'state') }),
    close: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/**
 * @param {string} cwd
 * @param {string} commands a directory that comes first in PATH
 * @param {Record<string, string>} more variables
 * @returns {Shell}
 */
export function openShell(cwd, commands, more = {}) {
  const env = { ...testEnvironment(), ...more }
  return {
    run: (script) =>
      // One pipe, so that stdout and stderr keep their order.
      capture(['sh', '-ec', `exec 2>&1\n${script}`], {
        cwd,
        env: { ...env, PATH: `${commands}${delimiter}${env.PATH}`, NO_COLOR: '1', FORCE_COLOR: undefined },
        timeoutMs: 120_000,
      }),
    write: (path, content) => {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), content)
    },
  }
}

/**
 * Whether a command printed what a document shows. In the document `…` stands for any text within a line
 * and, alone on a line, for any lines; everything else must be exactly so.
 *
 * @param {string} shown
 * @param {string} printed
 */
export function matchesShown(shown, printed) {
  const pattern = tidy(shown)
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escapeRegExp).join('.*')}\n`))
    .join('')
  return new RegExp(`^${pattern}$`).test(`${tidy(printed.replace(NO_TIME, ''))}\n`)
}

/** Said where a busy machine had no time to keep the files of a document's run. */
const NO_TIME = /^note: The files of iteration \d+ were not kept: a command started after [\d.]+ s\.\n/gm

/** @param {string} text */
function tidy(text) {
  return text.replace(/[ \t\r]+$/gm, '').replace(/\n+$/, '')
}

/** @param {string} text */
function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
