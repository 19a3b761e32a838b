import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Policy, Tool } from '@delta/executor'
import { fitShape } from '@delta/executor/internal'
import { listsSchema } from './agent-schema.js'
import { isAtip } from './atip-import.js'
import { findMainFile, openDirectory, readText, readYaml, realPath, type Workplace } from './files.js'
import { collectTools, importRootsOf, type Override } from './imports.js'
import { invalid, type LoadOptions } from './load-agent.js'
import { checkPolicyTools, readPolicy } from './main-file.js'
import {
  ConfigError,
  type ConfigWarning,
  collectFindings,
  type Findings,
  formatReport,
  inReadingOrder,
} from './problems.js'
import { report, withoutFaults } from './shape.js'
import { expandedFormOf, fileAndLine, type ToolSet, toolsAlone } from './tools.js'
import { isMap, writtenVersion, type YamlFile } from './yaml.js'

/** The tools of one file, as a program uses them and as a document to be written. */
export interface LoadedTools {
  /** The same document with its tools in full form and its imports resolved away; a bare list stays one. */
  document: Record<string, unknown> | Record<string, unknown>[]
  /** By name; imports first, then the file's own. */
  tools: ReadonlyMap<string, Tool>
  /** Where the tool of this name is defined, as `file:line`; a tool that was imported has its own file. */
  placeOf: (name: string) => string | undefined
  /** What the same file says under `policy:`. */
  policy?: Policy
  /** Tools of the same name in several files, and which one counts. */
  overrides: Override[]
  warnings: ConfigWarning[]
  /** With `partial`: the error for what is wrong, where something was left out. */
  failure?: ConfigError
}

/**
 * Loads only the tools: of an agent's directory, its main file, a file with `tools:`, or a file that is a bare list.
 *
 * Of the rest of the file only `policy:` is read, which says what the tools may do.
 *
 * @param options.partial - What cannot be used is left out and said in `failure`, which is not thrown.
 * @throws {ConfigError} with every problem found.
 */
export async function loadToolsFile(
  path: string,
  options: LoadOptions & { partial?: boolean },
): Promise<LoadedTools> {
  const findings = collectFindings(options)
  const { file: mainPath, workplace } = openFile(path, options.shownAs ?? path, findings)
  const { exists, file } = readYaml(mainPath, workplace, findings)
  if (!exists) findings.error({ file: path }, 'does not exist.')
  if (file === undefined) throw invalid(findings)

  const overrides: Override[] = []
  const tools = await toolsOf(file, workplace, overrides, options, findings)
  const policyAt = { file, path: ['policy'], findings }
  const policy = readPolicy(isMap(file.value) ? file.value.policy : undefined, policyAt)
  checkPolicyTools(policy, tools, policyAt)
  const failure = findings.problems.length > 0 ? invalid(findings) : undefined
  if (failure && !options.partial) throw failure
  return {
    document: documentOf(file, tools),
    tools: toolsAlone(tools),
    placeOf: (name) => {
      const loaded = tools.get(name)
      return loaded && fileAndLine(loaded.file, loaded.path)
    },
    ...(policy && { policy }),
    overrides,
    warnings: inReadingOrder(findings.warnings),
    ...(failure && { failure }),
  }
}

/** A lone file counts as an agent's directory with only that file: its imports stay beside and below it. */
function openFile(path: string, shown: string, findings: Findings): { workplace: Workplace; file: string } {
  const file = realPath(path)
  if (file === undefined) throw notFound(path, shown)
  if (statSync(file).isDirectory()) {
    const workplace = openDirectory(path, shown)
    return { workplace, file: findMainFile(workplace, findings) }
  }
  return { workplace: { home: dirname(file), shown: dirname(shown) }, file }
}

function notFound(path: string, shown: string): ConfigError {
  const read = readText(path)
  const problem = { file: shown, message: `${read.ok ? 'cannot be found' : read.message}.` }
  return new ConfigError('ERR_CONFIG_NOT_FOUND', formatReport([problem]), { problems: [problem] })
}

async function toolsOf(
  file: YamlFile,
  workplace: Workplace,
  overrides: Override[],
  options: LoadOptions,
  findings: Findings,
): Promise<ToolSet> {
  const roots = importRootsOf(workplace.home, options, findings)
  const importer = { file, chain: [file.path], roots }
  const state = { workplace, findings, overrides, loaded: new Map() }
  if (Array.isArray(file.value)) return collectTools([], file.value, importer, state, [])

  const { imports, tools } = (file.value ?? {}) as { imports?: unknown; tools?: unknown }
  if (imports === undefined && tools === undefined) {
    const hint = isAtip(file)
      ? 'It is the description of a program: name it under "imports:" of an agent or of a file with tools.'
      : 'Expected: "tools:" with a list under it, or a list of tools.'
    findings.error(file.locate([]), 'There are no tools here.', hint)
  }
  const { value, problems } = fitShape(listsSchema, { imports, tools })
  report(problems, { file, path: [], findings })
  const lists = value ?? withoutFaults(listsSchema, { imports, tools }, problems)
  return collectTools(lists?.imports ?? [], lists?.tools ?? [], importer, state)
}

function documentOf(file: YamlFile, tools: ToolSet): LoadedTools['document'] {
  const expanded = [...tools.values()].map(expandedFormOf)
  if (Array.isArray(file.value)) return expanded
  const { imports: _, ...rest } = file.value as Record<string, unknown>
  const version = typeof rest.version === 'number' && { version: writtenVersion(rest.version, file) }
  return { ...rest, ...version, tools: expanded }
}
