import { findDisplayProblems, nearestNames, repeatsRepeat } from '@delta/executor'
import type { ExpandedParameter, ExpandedTool } from '@delta/tool-expander'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import { reportUnreplaced, sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'

/** Warns of what makes a tool, but probably not the one that was meant. */
export function checkTool(
  tool: ExpandedTool,
  item: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  const { parameters: entries, input_schema: schema } = item as {
    parameters?: { name: string; required?: unknown }[] | null
    input_schema?: unknown
  }
  const written = entries ?? []
  const isPlain = !tool.substitute && tool.__meta === undefined
  if (isPlain) reportUnreplaced(tool.command, file, [...path, 'command'], findings, adviceFor)
  for (const [index, entry] of written.entries())
    checkPatterns(entry, file, [...path, 'parameters', index], findings)
  checkPatterns(schema, file, [...path, 'input_schema'], findings)
  for (const parameter of tool.parameters) {
    const index = written.findIndex(({ name }) => name === parameter.name)
    if (index >= 0) {
      const at = [...path, 'parameters', index]
      checkValues(parameter, file, at, findings)
      checkOption(parameter, tool, file, at, findings)
      checkRequired(parameter, written[index]?.required, file, at, findings)
    } else if (parameter.inject_as !== 'stdin') checkName(parameter.name, tool, file, path, findings)
  }
}

function adviceFor(name: string): string {
  return `For the value of "${name}" add substitute: true to the tool; the text itself is then \\\${${name}}.`
}

/** A name that no parameter has would stay empty on every screen. */
export function checkDisplay(
  display: string | undefined,
  tool: ExpandedTool,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  const at = [...path, 'display']
  for (const { message, column } of display === undefined ? [] : findDisplayProblems(display, tool))
    findings.error(file.locate(at, { column }), sentence(at, message))
}

/** A value that is a text where a number was said is passed on all the same, but the model is shown a contradiction. */
function checkValues(
  parameter: ExpandedParameter,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  const { type, default: value, enum: allowed = [] } = parameter
  const isOdd = (one: unknown) =>
    typeof one === 'string' && one !== '' && (type === 'integer' || type === 'number' || type === 'boolean')
  if (isOdd(value)) {
    const at = [...path, 'default']
    findings.warn(
      file.locate(at),
      sentence(at, `is a text, but the type is ${type}`),
      `Write it without quotes: default: ${value}`,
    )
  }
  const odd = allowed.findIndex((one) => isOdd(one) && type !== 'boolean')
  if (odd >= 0) {
    const at = [...path, 'enum', odd]
    findings.warn(
      file.locate(at),
      sentence(at, `is a text, but the type is ${type}`),
      `Write it without quotes: ${allowed[odd]}`,
    )
  }
}

/** Patterns of a parameter or schema, and of what is in it, that can take years. A call stops at the limit of time. */
function checkPatterns(schema: unknown, file: YamlFile, path: ValuePath, findings: Findings): void {
  if (!isMap(schema)) return
  const { pattern, items, properties } = schema
  if (typeof pattern === 'string' && repeatsRepeat(pattern)) {
    const at = [...path, 'pattern']
    const message = sentence(
      at,
      'repeats a repeat, which can take very long to find that a value does not match',
    )
    findings.warn(file.locate(at), message, 'Write one repeat: [ab]+ for (a+|b+)+.')
  }
  checkPatterns(items, file, [...path, 'items'], findings)
  for (const [name, property] of Object.entries(isMap(properties) ? properties : {}))
    checkPatterns(property, file, [...path, 'properties', name], findings)
}

/** The name of an option that is none: the value stands in the command alone. */
function checkOption(
  { name, inject_as, option_name: option }: ExpandedParameter,
  { __meta: origin }: ExpandedTool,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  if (option === undefined || inject_as === 'option') return
  const at = [...path, 'option_name']
  const dashed = option.startsWith('-') ? option : `--${option}`
  const inTemplate = origin && `Write ${dashed}=\${${name}} in ${origin.syntax}:, and remove it.`
  const hint = inTemplate ?? 'Say inject_as: option beside it.'
  findings.unknownKey(
    file.locate(at, { key: true }),
    sentence(at, 'means nothing without inject_as: option'),
    inject_as === 'stdin' ? 'Remove it.' : hint,
  )
}

/** With a default a call may leave the parameter out, whatever `required` says. */
function checkRequired(
  { name, default: value }: ExpandedParameter,
  required: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  if (required !== true || value === undefined) return
  const at = [...path, 'required']
  const message = sentence(at, `is true, but "${name}" has a default and may be left out`)
  findings.warn(file.locate(at), message, 'Remove one of the two.')
}

/** Variables of hooks or of context.yaml, and mistyped ones, become parameters, which the model is asked to fill. */
function checkName(
  name: string,
  tool: ExpandedTool,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  const hint = hintFor(name)
  if (tool.__meta === undefined || hint === undefined) return
  const { syntax, template } = tool.__meta
  const before = template.slice(0, template.indexOf(`\${${name}`))
  const place = { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
  const at = [...path, syntax]
  findings.warn(
    file.locate(at, place),
    sentence(at, `"\${${name}}" is a parameter here, which the model fills`),
    hint,
  )
}

function hintFor(name: string): string | undefined {
  if (name === 'RUN_DIR')
    return 'Commands find the run\'s directory in their environment: shell: with "$RUN_DIR".'
  const [near] = /^[A-Z_]+$/.test(name) ? nearestNames(name, ['AGENT_HOME', 'CWD']) : []
  return near === undefined ? undefined : `Did you mean \${${near}}?`
}
