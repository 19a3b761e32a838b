import { readdirSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { isInside } from '@delta/durable/internal'
import { showUnseen } from '@delta/executor/internal'
import { parse } from 'yaml'
import { LARGEST_TEXT, readBytes, textIn } from './read-file.js'
import type { ContextVariables } from './variables.js'

/** The skills of some directories (https://agentskills.io/specification). */
interface FoundSkills {
  /** `- name: description (path)` for each one, sorted. The path is that of the SKILL.md: in the workspace relative to it. */
  lines: string[]
  /** Why others were left out, as sentences. */
  problems: string[]
}

/** What the lines may hold together, in bytes: as the files of a walk. */
const MOST_BYTES = 32_000
/** Longer front matter is none of a skill, and a tool may have written it. */
const LONGEST_FRONT_MATTER = 64_000
/** How much is said of skills that are wrong. */
const MOST = { skills: 20, problemsOfSkill: 5, letters: 200 }

/** Finds the skills in directories, of which each holds a directory for each skill. A missing directory holds none. */
export function findSkills(directories: readonly string[], variables: ContextVariables): FoundSkills {
  const found: FoundSkills = { lines: [], problems: [] }
  for (const directory of directoriesIn(directories, found.problems)) {
    const file = readSkill(directory, variables)
    if (file === undefined) continue
    const skill = 'text' in file ? checkSkill(file.text, basename(directory)) : [file.problem]
    if (Array.isArray(skill)) {
      found.problems.push(
        `${directory} left out: ${firstOf(skill, MOST.problemsOfSkill).map(cut).join('; ')}.`,
      )
      continue
    }
    const path = isInside(file.path, variables.CWD) ? relative(variables.CWD, file.path) : file.path
    found.lines.push(oneLine(`- ${skill.name}: ${skill.description} (${path})`))
  }
  const lines = withinBytes(found.lines.sort(), MOST_BYTES)
  const cutOff = found.lines.length - lines.length
  const more =
    cutOff === 0
      ? []
      : [`${cutOff} of ${found.lines.length} skills left out: the catalogue is cut after 32 kB.`]
  return { lines, problems: [...firstOf(found.problems, MOST.skills, ' left out.'), ...more] }
}

/** As many of the first lines as fit. */
function withinBytes(lines: readonly string[], most: number): string[] {
  let left = most
  const first = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1
    return left < 0
  })
  return first === -1 ? [...lines] : lines.slice(0, first)
}

function firstOf(texts: readonly string[], most: number, what = ''): string[] {
  return texts.length <= most
    ? [...texts]
    : [...texts.slice(0, most), `and ${texts.length - most} more${what}`]
}

function cut(text: string): string {
  return text.length <= MOST.letters ? text : `${text.slice(0, MOST.letters)}…`
}

function oneLine(text: string): string {
  return showUnseen(text.replaceAll(/\s+/g, ' '))
}

function* directoriesIn(directories: readonly string[], problems: string[]): Generator<string> {
  for (const directory of directories) {
    try {
      const paths = readdirSync(directory).map((name) => join(directory, name))
      yield* paths.sort().filter((path) => statSync(path, { throwIfNoEntry: false })?.isDirectory())
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT') problems.push(`${directory} cannot be read: ${message}.`)
    }
  }
}

type SkillFile = { path: string } & ({ text: string } | { problem: string })

/** Undefined if the directory is not a skill. */
function readSkill(directory: string, variables: ContextVariables): SkillFile | undefined {
  for (const name of ['SKILL.md', 'skill.md']) {
    const path = join(directory, name)
    const read = readBytes(path, LARGEST_TEXT, variables)
    const text = 'bytes' in read ? textIn(read.bytes) : read
    if (typeof text === 'string') return { path, text }
    if (!text.isMissing) return { path, problem: `${name} ${text.message}` }
  }
  return undefined
}

/** The keys that the specification knows. */
const KEYS = ['name', 'description', 'license', 'allowed-tools', 'metadata', 'compatibility']
/** Limits of the specification, in characters. */
const LONGEST = { name: 64, description: 1024, compatibility: 500 }

/**
 * Checks a SKILL.md as the validator of the specification does.
 *
 * @param directory - Name of the skill's directory, which is that of the skill.
 * @returns The skill, or everything that is wrong with it.
 */
export function checkSkill(
  text: string,
  directory: string,
): { name: string; description: string } | string[] {
  const fields = frontMatterOf(text)
  if (typeof fields === 'string') return [fields]
  const name = textOf(fields.name).trim().normalize('NFKC')
  const description = textOf(fields.description).trim()
  const unknown = Object.keys(fields).filter((key) => !KEYS.includes(key))
  const problems = [
    ...unknown.map((key) => `"${key}" is not a key of a skill; below metadata any key may stand`),
    ...(name === '' ? ['name is missing'] : problemsOfName(name, directory)),
    ...(description === '' ? ['description is missing'] : tooLong('description', textOf(fields.description))),
    ...('compatibility' in fields ? problemsOfText('compatibility', fields.compatibility) : []),
    ...(isTexts(fields['allowed-tools']) ? [] : ['allowed-tools must be a string']),
  ]
  return problems.length === 0 ? { name, description } : problems
}

/** The mapping above the text, all of whose scalars are strings, or what is wrong with it. */
function frontMatterOf(text: string): Record<string, unknown> | string {
  if (!text.startsWith('---')) return 'SKILL.md must begin with a line ---, name, description, and a line ---'
  const end = /^---/m.exec(text.slice(3))
  if (end === null) return 'a line --- must end what SKILL.md says of itself'
  if (end.index > LONGEST_FRONT_MATTER) return 'what stands between the lines --- is longer than 64 kB'
  try {
    // to look for keys that are there twice takes quadratic time, and so does it to show where each warning is
    const options = { schema: 'failsafe', logLevel: 'error', uniqueKeys: false, prettyErrors: false } as const
    const value: unknown = parse(text.slice(3, 3 + end.index), options)
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isMapping ? { ...value } : 'what stands between the lines --- must be a mapping'
  } catch (error) {
    const { message, pos } = error as Error & { pos?: [number, number] }
    const line = pos === undefined ? '' : ` in line ${text.slice(0, 3 + pos[0]).split('\n').length}`
    return `what stands between the lines --- is not YAML${line}: ${String(message).split('\n')[0]}`
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function problemsOfName(name: string, directory: string): string[] {
  const isSpelled = /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u.test(name) && name === name.toLowerCase()
  return [
    ...(isSpelled ? [] : [`name "${name}" is not lowercase letters, digits and single hyphens between them`]),
    ...tooLong('name', name),
    ...(name === directory.normalize('NFKC') ? [] : [`name "${name}" is not that of its directory`]),
  ]
}

function problemsOfText(key: 'compatibility', value: unknown): string[] {
  return typeof value === 'string' ? tooLong(key, value) : [`${key} must be a string`]
}

function tooLong(key: keyof typeof LONGEST, value: string): string[] {
  const { length } = [...value]
  return length <= LONGEST[key]
    ? []
    : [`${key} has ${length} characters; at most ${LONGEST[key]} are allowed`]
}

function isTexts(value: unknown): boolean {
  return [value ?? []].flat().every((each) => typeof each === 'string')
}
