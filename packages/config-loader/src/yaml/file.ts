import { LineCounter, parseDocument } from 'yaml'
import type { ConfigProblem } from '../errors.js'
import { excerptOf, isBelowSecret } from '../format.js'
import type { ValuePath } from '../path.js'
import { explainUnfolding, MOST_UNFOLDING, mendAliases } from './aliases.js'
import { tellingOnes } from './consequences.js'
import { explainFault, repeatedKeys } from './faults.js'
import { readPlain } from './plain-value.js'
import { offsetOf, type PlaceInValue, writtenText } from './position.js'

/** A YAML file that was read: its value, and the way from a place in the value back to a line of the file. */
export interface YamlFile {
  /** Absolute path. */
  path: string
  /** The path as it is shown to people. */
  name: string
  text: string
  value: unknown
  /** Where the value at `path` stands, or the nearest thing around it that exists. */
  locate(path: ValuePath, at?: PlaceInValue): Place
  /** The place of the last `--set` that concerns the value at `path`, something in it, or what it is in. */
  setBy?(path: ValuePath): Place | undefined
  /** The text of a single value as it is written, before YAML took it for a number. */
  written(path: ValuePath): string | undefined
}

/** A place in a file, and the line it is on; what was set with `--set` has no line. */
export type Place = Pick<ConfigProblem, 'file' | 'line' | 'column' | 'excerpt'>

export interface ParsedYaml {
  /** What is wrong with the YAML itself. */
  problems: ConfigProblem[]
  /** Also there when all problems leave the rest of the file as it is, a repeated key for example. */
  file?: YamlFile
  /** What could be made out of a file that is not valid: good for finding other files, not for judging this one. */
  guess?: YamlFile
}

/** Repeated keys are looked for here, see `repeatedKeys`. */
const OPTIONS = {
  prettyErrors: false,
  merge: true,
  logLevel: 'error',
  uniqueKeys: false,
  resolveKnownTags: false, // a date or a set is no value of JSON
} as const

/**
 * Parses one YAML document and keeps the positions of everything in it.
 *
 * Refused: what YAML itself refuses, repeated keys, several documents, unknown tags, aliases without an anchor,
 * and documents that unfold to much more than they are. `<<` merges, as in most tools that read YAML.
 * An empty file has the value null.
 */
export function parseYaml(text: string, file: { path: string; name: string }): ParsedYaml {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { ...OPTIONS, lineCounter })
  const lineOf = (offset: number) => lineCounter.linePos(offset).line
  const end = text.trimEnd().length // what is missing at the end is shown behind the last line there is
  const placeAt = (offset: number) => placeInText(text, lineCounter, file.name, Math.min(offset, end))

  const allFaults = [...document.errors, ...document.warnings].map((fault) =>
    explainFault(fault, document, text),
  )
  if (text.includes('*')) allFaults.push(...mendAliases(document))
  const faults = tellingOnes([...allFaults, ...repeatedKeys(document, lineOf)], text, lineOf)
  const isReadable = faults.every(({ harmless }) => harmless)
  const problems = faults.map(({ offset, shownAt, message, hint }) => ({
    ...placeAt(shownAt ?? offset),
    message,
    ...(hint === undefined ? {} : { hint }),
  }))

  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_UNFOLDING })
    const locate = (path: ValuePath, at: PlaceInValue = {}) => placeAt(offsetOf(document, text, path, at))
    const written = (path: ValuePath) => writtenText(document, path)
    const read = { ...file, text, value, locate, written }
    return isReadable ? { problems, file: read } : { problems, guess: read }
  } catch (error) {
    if (!isReadable) return { problems }
    const { offset, ...fault } = explainUnfolding(error as Error, document)
    return { problems: [...problems, { ...placeAt(offset), ...fault }] }
  }
}

/** Reads a file that is YAML or JSON: positions are looked for only when something is wrong. */
export function parseFile(text: string, file: { path: string; name: string }): ParsedYaml {
  const plain = readPlain(text, file.path)
  if (plain === undefined) return parseYaml(text, file)

  let parsed: ParsedYaml | undefined
  const start: Place = { file: file.name, line: 1, column: 1 }
  const locate: YamlFile['locate'] = (path, at) => {
    parsed ??= parseYaml(text, file)
    return parsed.file?.locate(path, at) ?? start
  }
  return { problems: [], file: { ...file, text, ...plain, locate } }
}

/** A file whose value an earlier reading found: it is parsed when somebody asks for a place in it. */
export function knownFile(text: string, file: { path: string; name: string }, value: unknown): YamlFile {
  let parsed: YamlFile | undefined
  const read = () => {
    parsed ??= parseFile(text, file).file
    return parsed
  }
  const start: Place = { file: file.name, line: 1, column: 1 }
  return {
    ...file,
    text,
    value,
    locate: (path, at) => read()?.locate(path, at) ?? start,
    written: (path) => read()?.written(path),
  }
}

function placeInText(text: string, lineCounter: LineCounter, file: string, offset: number): Place {
  const { line, col } = lineCounter.linePos(offset)
  const start = lineCounter.lineStarts[line - 1] ?? 0
  const shown = text.slice(start, lineCounter.lineStarts[line] ?? text.length)
  const isShown = shown.trim() !== '' && !isBelowSecret(text.slice(0, start))
  return { file, line, column: col, ...(isShown && { excerpt: excerptOf(shown, col) }) }
}
