import { readdirSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { effectsSchema, nearestNames } from '@delta/executor'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import { importSchema } from '../schemas/agent-schema.js'
import { reportShape, sentence } from '../shape/report.js'
import { fitShape } from '../shape/shape.js'
import type { YamlFile } from '../yaml/file.js'
import type { AtipImport } from './atip-import.js'

/** One element of `imports:`, checked. */
export interface ImportEntry {
  path: string
  /** Present if the entry says that it is an ATIP file. */
  atip?: AtipImport
}

const ATIP_KEYS = ['atip', 'commands', 'trust', 'prefix', 'effects', ...Object.keys(effectsSchema.shape)]

/** Reads one element of `imports:`; says what is wrong with it and returns undefined if it is no way to a file. */
export function readEntry(
  entry: unknown,
  path: ValuePath,
  file: YamlFile,
  findings: Findings,
): ImportEntry | undefined {
  if (isMap(entry) && !('atip' in entry)) {
    const message = 'must be a path, or { atip: <file> } for a description in ATIP'
    findings.error(file.locate(path), sentence(path, message), mapHint(entry))
    return undefined
  }
  const { value, problems } = fitShape(importSchema, entry, ATIP_KEYS)
  reportShape(problems, file, findings, path)
  if (value === undefined) return undefined
  return typeof value === 'string' ? { path: value } : { path: value.atip, atip: value }
}

/** What somebody meant who wrote a map. */
function mapHint(entry: Record<string, unknown>): string {
  const [[key, value] = ['', undefined]] = Object.entries(entry)
  if (key.startsWith('npm')) {
    const whole = [key, ...(typeof value === 'string' ? [value] : [])].join(':').replace(/^npm:+/, 'npm:')
    return `Write it as one text, without a blank behind a colon: "${whole}"`
  }
  if (nearestNames(key, ['atip']).length > 0) return 'Did you mean "atip"?'
  return typeof value === 'string' ? `Write only the path: - ${value}` : 'As in: - ./tools/files.yaml'
}

/** The hint for a directory that somebody imported: what in it could be. */
export function filesIn(directory: string, importer: YamlFile): string {
  const names = readdirSync(directory)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
  if (names.length === 0) return 'Import files, one by one.'
  const way = relative(dirname(importer.path), directory)
  const shown = names.slice(0, 10).map((name) => `./${way === '' ? '' : `${way}/`}${name}`)
  return `Import the files in it, one by one: ${shown.join(', ')}${names.length > 10 ? ', …' : ''}`
}
