#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { closeSync, createReadStream, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import {
  fromRoot,
  inside,
  isBinary,
  openRegular,
  Refusal,
  refuseOthers,
  runTool,
  shown,
  textOf,
} from './lib/call.mjs'
import { globFault, globTest, ignoreTest } from './lib/glob.mjs'
import { linesOf } from './lib/lines.mjs'
import { lineTest } from './lib/pattern.mjs'

/** Lines that are shown, and characters of each. */
const LINES = 300
const LINE_CHARACTERS = 500
/** A longer line, as in a file that a program has written, is searched only at its beginning. */
const LONGEST_TESTED = 1_000_000
const OF_BINARY = /: (?:binary file matches|WARNING: stopped searching binary file)/
/** What no search is about. */
const LEFT_OUT = ['.git', '.delta', '.sessions']

await runTool(async (args) => {
  const pattern = textOf(args, 'pattern')
  const path = textOf(args, 'path', '.')
  const glob = args.glob === undefined ? undefined : textOf(args, 'glob')
  const fault = globFault(glob ?? '')
  if (fault) throw new Refusal(`The glob ${JSON.stringify(glob)} is not valid: ${fault}.`)
  const real = inside(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found === undefined) throw new Refusal(`${shown(path)} does not exist.`)
  if (!found.isDirectory()) refuseOthers(path, found)
  const lines = []
  const left = { files: 0, directories: 0 }
  const matches =
    ripgrep({ pattern, glob, real }) ?? walk({ pattern, glob, real, isFile: found.isFile(), left })
  for await (const line of matches) {
    lines.push(line)
    if (lines.length > LINES) break
  }
  const more = lines.length > LINES ? '\n[there are more: narrow the pattern, the path or the glob]' : ''
  process.stdout.write(
    lines.length === 0
      ? `No line matches.${ignored(left)}\n`
      : `${lines.slice(0, LINES).join('\n')}${more}\n`,
  )
})

/** What is wanted may lie in what is left out. @param {{ files: number, directories: number }} left */
function ignored({ files, directories }) {
  const counts = [
    ...(files > 0 ? [`${files} ${files === 1 ? 'file' : 'files'}`] : []),
    ...(directories > 0 ? [`${directories} ${directories === 1 ? 'directory' : 'directories'}`] : []),
  ]
  return counts.length === 0 ? '' : ` Left out by .gitignore: ${counts.join(' and ')}.`
}

/** @typedef {{ pattern: string, glob: string | undefined, real: string }} Search */

/** What `rg` finds; undefined where there is none. @param {Search} search */
function ripgrep({ pattern, glob, real }) {
  const [isThere] = (process.env.PATH ?? '')
    .split(':')
    .filter((directory) => isExecutable(join(directory, 'rg')))
  if (isThere === undefined) return undefined
  const globs = [...(glob === undefined ? [] : [glob]), ...LEFT_OUT.map((name) => `!${name}`)]
  return runRipgrep([
    ...['--no-config', '--hidden', '--no-require-git', '--sort', 'path', '--color', 'never'],
    ...['--null', '--with-filename', '--line-number', '--no-heading'],
    ...['--max-columns', String(LINE_CHARACTERS), '--max-columns-preview'],
    ...globs.flatMap((each) => ['--glob', each]),
    ...['--regexp', pattern, '--', fromRoot(real)],
  ])
}

/** @param {string} path */
function isExecutable(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && (stat.mode & 0o111) !== 0
}

/** @param {string[]} words */
async function* runRipgrep(words) {
  const child = spawn('rg', words, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.on('close', resolve))
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    complaint = (complaint + text).slice(0, 2000)
  })
  try {
    let before = ''
    for await (const { line: part } of linesOf(child.stdout.setEncoding('utf8'), LONGEST_TESTED)) {
      const line = before + part
      // a NUL ends the name; before it stands a line break that is a part of it, or what rg says of a binary file
      before = line.includes('\0') || OF_BINARY.test(line) ? '' : `${line}\n`
      const [, name = '', number, text = ''] = /^([^\0]*)\0(\d+):(.*)$/s.exec(line) ?? []
      if (number !== undefined) yield lineOf(name.replace(/^\.\//, ''), Number(number), text)
    }
    if ((await ended) === 2 && complaint) throw new Refusal(complaint.trim())
  } finally {
    child.kill()
  }
}

/** @param {string} name @param {number} number @param {string} text */
function lineOf(name, number, text) {
  const cut = text.length > LINE_CHARACTERS ? `${text.slice(0, LINE_CHARACTERS)}…` : text
  return `${shown(name)}:${number}:${cut}`
}

/**
 * The same without `rg`: of ignored files only what the `.gitignore` of the workspace says.
 *
 * @param {Search & { isFile: boolean, left: { files: number, directories: number } }} search `left` counts what is
 *   ignored.
 */
async function* walk({ pattern, glob, real, isFile, left }) {
  const test = lineTest(pattern)
  const isWanted = glob === undefined ? () => true : globTest(glob)
  const isNamed = ignoreTest(ignoreFile())
  const isIgnored = (/** @type {string} */ path, /** @type {boolean} */ isDirectory) => {
    if (!isNamed(fromRoot(path), isDirectory)) return false
    if (isDirectory) left.directories += 1
    else if (isWanted(relative(real, path))) left.files += 1
    return true
  }
  for (const path of isFile ? [real] : filesIn(real, isIgnored)) {
    const name = fromRoot(path)
    if (!isFile && !isWanted(relative(real, path))) continue
    for await (const [number, text] of matchesIn(path, test)) yield lineOf(name, number, text)
  }
}

function ignoreFile() {
  let fd
  try {
    fd = openRegular(inside('.gitignore'))
    return fd === undefined ? '' : readFileSync(fd, 'utf8')
  } catch {
    return '' // there is none that can be read here
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/**
 * @param {string} directory
 * @param {(path: string, isDirectory: boolean) => boolean} isIgnored
 * @returns {Generator<string>}
 */
function* filesIn(directory, isIgnored) {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name)
    if (LEFT_OUT.includes(entry.name) || isIgnored(path, entry.isDirectory())) continue
    if (entry.isDirectory()) yield* filesIn(path, isIgnored)
    else if (entry.isFile()) yield path
  }
}

/** @param {string} directory */
function entriesOf(directory) {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
  } catch {
    return [] // gone meanwhile, or not for us
  }
}

/**
 * @param {string} path
 * @param {(lines: string[], name: string) => boolean[]} test
 * @returns {AsyncGenerator<[number, string]>}
 */
async function* matchesIn(path, test) {
  const fd = openRegular(path)
  if (fd === undefined) return
  try {
    const beginning = Buffer.alloc(8192)
    if (isBinary(beginning.subarray(0, readSync(fd, beginning, 0, beginning.length, 0)))) return
    const input = createReadStream('', { fd, start: 0, autoClose: false, encoding: 'utf8' })
    let before = 0
    for await (const lines of batchesOf(input)) {
      const matching = test(lines, shown(fromRoot(path)))
      for (const [index, line] of lines.entries()) if (matching[index]) yield [before + index + 1, line]
      before += lines.length
    }
  } finally {
    closeSync(fd)
  }
}

/** Some lines at a time, so that a large file takes little memory. @param {AsyncIterable<string>} text */
async function* batchesOf(text) {
  /** @type {string[]} */
  let lines = []
  let characters = 0
  for await (const { line } of linesOf(text, LONGEST_TESTED)) {
    lines.push(line)
    characters += line.length
    if (lines.length < 1000 && characters < 100_000) continue
    yield lines
    lines = []
    characters = 0
  }
  if (lines.length > 0) yield lines
}
