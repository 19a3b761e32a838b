import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { root } from './environment.mjs'

/**
 * The built parser of the command line, in this process: many times as fast as a process for each question.
 *
 * @returns {{ createProgram(terminal: object): any, runProgram(terminal: object): Promise<number> }}
 */
export function builtProgram() {
  const path = join(root, 'apps/cli/dist/program.cjs')
  const module = { exports: /** @type {any} */ ({}) }
  const run = new Script(readFileSync(path, 'utf8'), { filename: path }).runInThisContext()
  run(module.exports, createRequire(path), module, path, dirname(path))
  return module.exports
}
