#!/usr/bin/env node
import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inside, numberOf, Refusal, runTool, shown, textOf } from './lib/call.mjs'

/** Entries that are shown. */
const ENTRIES = 1000
/** Listed, and not looked into. */
const CLOSED = new Set(['.git', '.delta', '.sessions', 'node_modules'])

await runTool((args) => {
  const path = textOf(args, 'path', '.')
  const depth = numberOf(args, 'depth', { least: 1, otherwise: 1 })
  const real = inside(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found === undefined) throw new Refusal(`${shown(path)} does not exist.`)
  if (!found.isDirectory()) throw new Refusal(`${shown(path)} is not a directory.`)
  const lines = []
  for (const line of entriesIn(real, depth)) {
    lines.push(line)
    if (lines.length > ENTRIES) break
  }
  const all =
    lines.length > ENTRIES
      ? [...lines.slice(0, ENTRIES), '[there are more: list a directory of them]']
      : lines
  process.stdout.write(all.length === 0 ? `${shown(path)} is empty.\n` : `${all.join('\n')}\n`)
})

/**
 * @param {string} directory
 * @param {number} depth
 * @param {string} [before] What the names stand behind.
 * @returns {Generator<string>}
 */
function* entriesIn(directory, depth, before = '') {
  const entries = readdirSync(directory, { withFileTypes: true })
  entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  for (const entry of entries) {
    const name = before + entry.name
    const path = join(directory, entry.name)
    if (entry.isSymbolicLink()) yield `${shown(name)} -> ${shown(readlinkSync(path))}`
    else yield entry.isDirectory() ? `${shown(name)}/` : shown(name)
    if (entry.isDirectory() && depth > 1 && !CLOSED.has(entry.name))
      yield* inReadable(path, depth - 1, `${name}/`)
  }
}

/** @param {string} directory @param {number} depth @param {string} before @returns {Generator<string>} */
function* inReadable(directory, depth, before) {
  try {
    yield* entriesIn(directory, depth, before)
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EACCES' && code !== 'ENOENT') throw error // not for us, or gone meanwhile
  }
}
