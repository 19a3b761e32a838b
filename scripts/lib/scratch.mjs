import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './environment.mjs'

const COMMANDS = { delta: 'apps/cli/bin.cjs', 'delta-sessions': 'packages/sessions/bin.cjs' }
const LEFT_BEHIND = /[/\\](node_modules|workspaces|\.delta)$/

/**
 * Copies the examples, without what running them here has left there.
 *
 * @param {string} directory
 */
export function copyExamples(directory) {
  cpSync(join(root, 'examples'), directory, {
    recursive: true,
    filter: (source) => !LEFT_BEHIND.test(source),
  })
}

/**
 * Makes something that looks like a clone and costs nothing: only the examples, where agents write, are copies.
 *
 * @param {string} directory
 */
export function makeScratchCheckout(directory) {
  mkdirSync(directory)
  for (const name of readdirSync(root)) {
    if (!['.git', 'examples', 'workspaces'].includes(name))
      symlinkSync(join(root, name), join(directory, name))
  }
  copyExamples(join(directory, 'examples'))
}

/**
 * Makes a directory for PATH, with the commands that an installation would have put there.
 *
 * @param {string} directory
 */
export function makeCommands(directory) {
  mkdirSync(directory)
  for (const [name, path] of Object.entries(COMMANDS)) {
    const script = `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(join(root, path))} "$@"\n`
    writeFileSync(join(directory, name), script, { mode: 0o755 })
  }
}

/** @param {string} word */
function quote(word) {
  return `'${word.replaceAll("'", "'\\''")}'`
}
