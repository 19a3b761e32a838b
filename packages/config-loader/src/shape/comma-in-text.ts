import type { ValuePath } from '../path.js'
import type { YamlFile } from '../yaml/file.js'

/**
 * What to do about an unknown key that is the rest of a text with a comma: `{ description: Which one, from 1 }`.
 * Undefined for a key that has a colon, or stands in no `{ }`.
 */
export function commaHint(file: YamlFile, path: ValuePath): string | undefined {
  const key = String(path.at(-1))
  const { line, column } = file.locate(path, { key: true })
  if (line === undefined || column === undefined) return undefined
  const start = offsetOf(file.text, line) + column - 1
  const behind = file.text.slice(start + key.length)
  if (!file.text.startsWith(key, start) || !/^\s*[,}]/.test(behind)) return undefined
  const before = /[{,]\s*([\w-]+:\s+(?!["'[&*!])[^,{}]*,\s*)$/.exec(
    file.text.slice(Math.max(0, start - LONGEST), start),
  )?.[1]
  if (before === undefined) return ENDS_HERE
  const [name = '', text = ''] = split(before)
  return `${ENDS_HERE.slice(0, -1)}: ${name}: ${JSON.stringify(`${text}${key}`.replace(/\s+/g, ' '))}`
}

const ENDS_HERE = 'Inside of { } a comma ends a text without quotes. Quote the whole text.'

/** The way back in which the beginning of the text is looked for. */
const LONGEST = 500

function split(setting: string): [string, string] {
  const colon = setting.indexOf(':')
  return [setting.slice(0, colon), setting.slice(colon + 1).trimStart()]
}

function offsetOf(text: string, line: number): number {
  let offset = 0
  for (let at = 1; at < line; at++) offset = text.indexOf('\n', offset) + 1
  return offset
}
