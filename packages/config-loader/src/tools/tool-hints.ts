import { nearestNames } from '@delta/executor'
import type { ToolProblem } from '@delta/tool-expander'
import { isMap } from '../is-map.js'
import { parsePath } from '../path.js'
import { optionHint } from './option-hint.js'
import { PARAMETER_TYPES } from './parameter-types.js'

type Item = Record<string, unknown>

/** What to write instead, where the author's own names make it plainer than the expander's hint, which knows only the place. */
export function hintByNames(
  problem: ToolProblem,
  item: unknown,
  lineOf: (key: string) => number | undefined,
): string | undefined {
  if (!isMap(item)) return 'A tool is written - name: list_files, and below it what it runs.'
  const { code, path } = problem
  const [key, index, inner] = parsePath(path)
  if (code === 'ERR_EXEC_VARIABLE') return variableHint(problem)
  if (code === 'ERR_TOOL_NAME') return nameHint(item.name)
  if (path === 'stdin' && code === 'ERR_TOOL_SHAPE') return stdinHint(item)
  if (key !== 'parameters') return undefined
  if (index === undefined) return listHint(item.parameters)
  const written: unknown = Array.isArray(item.parameters) ? item.parameters[Number(index)] : undefined
  if (inner === undefined) return entryHint(written)
  if (!isMap(written)) return undefined
  const isOption = written.inject_as === 'option'
  if (code === 'ERR_PARAMETER_OVERRIDE' && inner === 'inject_as' && isOption) return optionHint(written, item)
  if (code !== 'ERR_PARAMETER_UNKNOWN') return undefined
  return isOption ? optionHint(written, item) : unknownHint(String(written.name), item, lineOf('stdin'))
}

/** `$file` is mostly a parameter; in capitals it is a variable of the environment. */
function variableHint({ message }: ToolProblem): string | undefined {
  const [, name] = /\$(\w+)/.exec(message) ?? []
  if (name === undefined) return undefined
  if (name === 'AGENT_HOME' || name === 'CWD') return `Write \${${name}}.`
  const isOfEnvironment = /^[A-Z_\d]+$/.test(name)
  const ways = [`\${${name}} for a parameter`, 'shell: for a variable of the environment']
  if (isOfEnvironment) ways.reverse()
  return `Write ${ways.join(', ')}, single quotes for the text.`
}

function nameHint(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  if (name === 'ask_human') return 'ask_human is a tool of the engine itself. Give yours another name.'
  const proposed = name
    .replace(/[^\w-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 64)
  return proposed === '' ? undefined : `Write name: ${proposed}.`
}

function stdinHint({ parameters, exec, shell, command }: Item): string {
  const template = String(exec ?? shell ?? command)
  const names = Array.isArray(parameters) ? parameters.map((entry) => Object(entry).name) : []
  const meant = names.find((name) => IS_NAME.test(String(name)) && !template.includes(`\${${name}`))
  return `It takes the name of the parameter whose value the command reads: stdin: ${meant ?? 'text'}`
}

/** JSON Schema and others have a map of the names. */
function listHint(written: unknown): string | undefined {
  if (Array.isArray(written)) return undefined
  if (!isMap(written)) return `Write a list: parameters: [{ name: ${exampleOf(written) ?? 'file'} }]`
  if (typeof written.name === 'string' && !isMap(written.properties))
    return `Write - before its first key: - name: ${written.name}`
  const described = isMap(written.properties) ? written.properties : written
  const required = Array.isArray(written.required) ? written.required : undefined
  const names = Object.keys(described).filter((name) => IS_NAME.test(name))
  if (names.length === 0) return 'Write a list: parameters: [{ name: file }]'
  const entries = names.slice(0, SHOWN).map((name) => {
    const type = typeOf(described[name])
    const isOptional = required !== undefined && !required.includes(name)
    return `{ name: ${name}${type ? `, type: ${type}` : ''}${isOptional ? ', required: false' : ''} }`
  })
  return `Write a list: parameters: [${[...entries, ...(names.length > SHOWN ? ['…'] : [])].join(', ')}]`
}

const IS_NAME = /^[A-Za-z_]\w*$/

/** As many as a person needs to see the form. */
const SHOWN = 4

function typeOf(described: unknown): string | undefined {
  const type = isMap(described) ? described.type : described
  return PARAMETER_TYPES.find((known) => known === type)
}

function entryHint(written: unknown): string {
  return `Write - name: ${exampleOf(written) ?? 'file'}`
}

function exampleOf(written: unknown): string | undefined {
  return typeof written === 'string' && IS_NAME.test(written) ? written : undefined
}

/** A parameter that no place of the template is for: often the place is there, written as elsewhere. */
function unknownHint(name: string, item: Item, stdinLine: number | undefined): string | undefined {
  const { exec, shell, command, stdin, parameters } = item
  const template = [exec, shell, command]
    .flat()
    .find((text) => typeof text === 'string' && text.includes(name))
  const [written] = typeof template === 'string' ? (placeLike(name).exec(template) ?? []) : []
  const what = written?.startsWith('$') ? 'a variable of the shell' : 'plain text'
  if (written !== undefined) return `${written} stands there, which is ${what}. Write \${${name}}.`
  if (typeof stdin !== 'string' || !Array.isArray(parameters)) return undefined
  if (parameters.some((entry) => Object(entry).name === stdin)) return undefined
  const meant = nearestNames(stdin, [name]).length > 0 || parameters.length === 1
  if (!meant) return undefined
  const place = stdinLine === undefined ? '' : ` on line ${stdinLine}`
  return `stdin: ${stdin}${place} is the name of another parameter. Did you mean stdin: ${name}?`
}

/** `{file}`, `{{ file }}`, `\${file}` and `$file`. */
function placeLike(name: string): RegExp {
  return new RegExp(`\\\\?\\$?(?:\\{\\{ *${name} *\\}\\}|\\{${name}\\})|\\$${name}(?!\\w)`)
}
