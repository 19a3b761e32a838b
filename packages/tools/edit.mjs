#!/usr/bin/env node
import { readFileSync, statSync } from 'node:fs'
import { insideToWrite, isBinary, Refusal, runTool, shown, textOf, withFile } from './lib/call.mjs'
import { replaceFile } from './lib/replace-file.mjs'

/**
 * @typedef {{ old: string, new: string, all?: boolean }} Edit
 * @typedef {{ start: number, end: number, text: string, edit: number }} Change A part of the file, and what comes in its place.
 */

const LARGEST_BYTES = 50_000_000
/** Lines around a change in the diff. */
const CONTEXT = 3

await runTool(async (args) => {
  const path = textOf(args, 'path')
  const edits = editsOf(args.edits)
  insideToWrite(path)
  await withFile(path, ({ fd, real, stat }) => {
    if (stat.size > LARGEST_BYTES)
      throw new Refusal(`${shown(path)} has ${stat.size} bytes; ${LARGEST_BYTES} are the most.`)
    const bytes = readFileSync(fd)
    if (isBinary(bytes)) throw new Refusal(`${shown(path)} is binary.`)
    // One character a byte: what is not UTF-8 stays as it is.
    const text = bytes.toString('latin1')
    const changes = changesFor(edits, text, path)
    const check = () => {
      const now = statSync(insideToWrite(path), { throwIfNoEntry: false })
      if (now?.ino !== stat.ino || now.mtimeMs !== stat.mtimeMs || now.size !== stat.size)
        throw new Refusal(`${shown(path)} changed while it was edited. Read it again.`)
    }
    replaceFile(real, Buffer.from(applied(changes, text), 'latin1'), { path, mode: stat.mode, check })
    process.stdout.write(Buffer.from(diffOf(changes, text, asBytes(shown(path))), 'latin1'))
  })
})

/** @param {unknown} edits @returns {Edit[]} */
function editsOf(edits) {
  if (typeof edits === 'string' && edits.trimStart().startsWith('['))
    throw new Refusal('"edits" must be a list, not a text that holds one.')
  if (!Array.isArray(edits) || edits.length === 0)
    throw new Refusal('"edits" is a list of { old, new }, with at least one.')
  for (const [index, edit] of edits.entries()) {
    const { old, new: text } = Object(edit)
    if (typeof old !== 'string' || typeof text !== 'string')
      throw new Refusal(`edits[${index}]: "old" and "new" must be strings.`)
    if (old === '')
      throw new Refusal(`edits[${index}]: "old" is empty. To make a file, or all of it anew, use write.`)
    if (old === text) throw new Refusal(`edits[${index}]: "old" and "new" are the same.`)
  }
  return edits
}

/**
 * Where all edits change the text, in its order. Each looks at the text as it is, so their order does not matter.
 *
 * @param {Edit[]} edits
 * @param {string} text
 * @param {string} path
 * @returns {Change[]}
 */
function changesFor(edits, text, path) {
  const isCrlf = hasCrlf(text)
  const changes = edits.flatMap(({ old, new: replacement, all }, index) => {
    const wanted = inLineEnds(asBytes(old), isCrlf)
    const places = placesOf(wanted, text, all === true ? wanted.length : 1)
    if (places.length === 0) throw new Refusal(`${shown(path)} does not have ${quoted(old)}. Read it again.`)
    if (places.length > 1 && all !== true)
      throw new Refusal(
        `${shown(path)} has ${quoted(old)} ${places.length} times; give more of its surroundings, or all: true`,
      )
    const put = inLineEnds(asBytes(replacement), isCrlf)
    return places.map((start) => ({ start, end: start + wanted.length, text: put, edit: index }))
  })
  changes.sort((one, other) => one.start - other.start)
  for (const [index, change] of changes.entries()) {
    const before = changes[index - 1]
    if (before && before.end > change.start) {
      const both = [before.edit, change.edit]
        .sort((one, other) => one - other)
        .map((edit) => `edits[${edit}]`)
      throw new Refusal(`${shown(path)}: ${both.join(' and ')} change the same text. Make one edit of them.`)
    }
  }
  return changes
}

/** @param {string} text */
function asBytes(text) {
  return Buffer.from(text).toString('latin1')
}

/** @param {string} text */
function quoted(text) {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

/** True if most lines end with CR and LF. @param {string} text */
function hasCrlf(text) {
  const all = text.split('\n').length - 1
  return (text.split('\r\n').length - 1) * 2 > all
}

/** A model reads lines without their ends, and writes LF. @param {string} text @param {boolean} isCrlf */
function inLineEnds(text, isCrlf) {
  return isCrlf ? text.replace(/\r?\n/g, '\r\n') : text
}

/** @param {string} wanted @param {string} text @param {number} step From one place to where the next may begin. */
function placesOf(wanted, text, step) {
  const places = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + step)) places.push(at)
  return places
}

/** @param {Change[]} changes @param {string} text */
function applied(changes, text) {
  let end = 0
  const parts = changes.flatMap((change) => {
    const between = text.slice(end, change.start)
    end = change.end
    return [between, change.text]
  })
  return [...parts, text.slice(end)].join('')
}

/**
 * A unified diff, with the line ends that `read` shows: LF alone.
 *
 * @param {Change[]} changes
 * @param {string} text
 * @param {string} name
 */
function diffOf(changes, text, name) {
  const lines = linesOf(text)
  const starts = [0]
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length)
  let shift = 0
  const hunks = hunksOf(changedLines(changes, starts), CONTEXT).map((hunk) => {
    const from = Math.max(0, (hunk[0]?.first ?? 0) - CONTEXT)
    const to = Math.min(lines.length, (hunk.at(-1)?.last ?? 0) + CONTEXT)
    /** @type {string[]} */
    const parts = []
    let [line, count] = [from, 0]
    const add = (/** @type {string} */ mark, /** @type {string[]} */ added) => {
      parts.push(...added.map((each) => marked(mark, each)))
      if (mark !== '-') count += added.length
    }
    for (const { first, last, changes } of hunk) {
      const [start = 0, end = 0] = [starts[first], starts[last]]
      const moved = changes.map((each) => ({ ...each, start: each.start - start, end: each.end - start }))
      add(' ', lines.slice(line, first))
      add('-', lines.slice(first, last))
      add('+', linesOf(applied(moved, text.slice(start, end))))
      line = last
    }
    add(' ', lines.slice(line, to))
    const head = `@@ -${range(from, to - from)} +${range(from + shift, count)} @@\n`
    shift += count - (to - from)
    return head + parts.join('')
  })
  return `--- ${name}\n+++ ${name}\n${hunks.join('')}`
}

/** @typedef {{ first: number, last: number, changes: Change[] }} Lines From `first` to before `last`, and what changes in them. */

/**
 * The lines that change, those of one place together.
 *
 * @param {Change[]} changes
 * @param {number[]} starts Where each line begins, and where the last one ends.
 * @returns {Lines[]}
 */
function changedLines(changes, starts) {
  const count = starts.length - 1
  /** @type {Lines[]} */
  const all = []
  let line = 0
  for (const change of changes) {
    while (line + 1 < count && (starts[line + 1] ?? 0) <= change.start) line += 1
    let last = line + 1
    while (last < count && (starts[last] ?? 0) < change.end) last += 1
    const isWhole = change.text === '' && change.start === starts[line]
    // a line that loses its end is joined with the next one
    if (change.end === starts[last] && !change.text.endsWith('\n') && !isWhole && last < count) last += 1
    const before = all.at(-1)
    if (before && line <= before.last) {
      before.last = Math.max(before.last, last)
      before.changes.push(change)
    } else all.push({ first: line, last, changes: [change] })
  }
  return all
}

/** Those that share lines of context are one hunk. @param {Lines[]} all @param {number} context */
function hunksOf(all, context) {
  /** @type {Lines[][]} */
  const hunks = []
  for (const each of all) {
    const last = hunks.at(-1)
    if (last && each.first - (last.at(-1)?.last ?? 0) <= 2 * context) last.push(each)
    else hunks.push([each])
  }
  return hunks
}

/** Lines with their ends. @param {string} text */
function linesOf(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** @param {number} from @param {number} count */
function range(from, count) {
  return `${count === 0 ? from : from + 1}${count === 1 ? '' : `,${count}`}`
}

/** @param {string} mark @param {string} line */
function marked(mark, line) {
  const shown = line.replace(/\r?\n$/, '')
  return `${mark}${shown}\n${shown === line ? '\\ No newline at end of file\n' : ''}`
}
