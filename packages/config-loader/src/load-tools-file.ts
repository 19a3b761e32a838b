import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Policy, Tool } from '@delta/executor'
import { fitShape } from '@delta/settings'
import { listsSchema } from './agent-schema.js'
import { findMainFile, openDirectory, readText, readYaml, realPath, type Workplace } from './files.js'
import { collectTools, type Override, type ToolLists } from './imports.js'
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
import { report, withoutFaults } from './report.js'
import { expandedFormOf, fileAndLine, type ToolSet, toolsAlone, withoutCredentials } from './tools.js'
import { isMap, writtenVersion, type YamlFile } from './yaml.js'

/** The tools of one file, as a program uses them and as a document to be written. */
export interface LoadedTools {
  /** The same document with its tools in full form and without its imports; a bare list stays one. */
  document: Record<string, unknown> | Record<string, unknown>[]
  /** By name; imports first, then the file's own. */
  tools: ReadonlyMap<string, Tool>
  /** Where the tool of this name is defined, as `file:line`. */
  placeOf: (name: string) => string | undefined
  /** Who declared the effects of the tool of this name: the file that defines it, or (also) the import of that file. */
  effectsBy: (name: string) => 'file' | 'import' | undefined
  /** What the same file says under `policy:`. */
  policy?: Policy
  /** Tools of the same name in several files, and which one counts. */
  overrides: Override[]
  warnings: ConfigWarning[]
  /** With `partial`: the error for what is wrong, if something was left out. */
  failure?: ConfigError
}

/**
 * Loads only the tools: of an agent's directory, its main file, a file with `tools:`, or a file that is a bare list.
 *
 * Of the rest of the file only `policy:` is read.
 *
 * @param options.partial - Leaves out what cannot be used and reports it in `failure` instead of throwing.
 * @throws {ConfigError} `ERR_CONFIG_NOT_FOUND` or `ERR_CONFIG_INVALID`, with every problem found.
 * @example
 * const { tools } = await loadToolsFile('tools.yaml')
 */
export async function loadToolsFile(
  path: string,
  options: LoadOptions & { partial?: boolean } = {},
): Promise<LoadedTools> {
  const findings = collectFindings(options)
  const { path: mainPath, workplace } = openFile(path, options.shownAs ?? path, findings)
  const { file } = readYaml(mainPath, workplace, findings)
  if (file === undefined) throw invalid(findings)

  const lists = Array.isArray(file.value) ? { tools: file.value } : readLists(file, findings)
  const base = Array.isArray(file.value) ? [] : ['tools']
  const collected = await collectTools(lists, file, base, { workplace, options, findings })
  const { overrides, packages } = collected
  const tools = withoutCredentials(collected.tools, packages, file, findings)
  const policyAt = { file, path: ['policy'], findings }
  const policy = readPolicy(isMap(file.value) ? file.value.policy : undefined, policyAt)
  checkPolicyTools(policy, tools, policyAt)
  const failure = findings.problems.length > 0 ? invalid(findings) : undefined
  if (failure && !options.partial) throw failure
  return {
    document: documentOf(file, tools),
    tools: toolsAlone(tools, file),
    placeOf: (name) => {
      const loaded = tools.get(name)
      return loaded && fileAndLine(loaded.file, loaded.path)
    },
    effectsBy: (name) => {
      const loaded = tools.get(name)
      if (loaded?.tool.settings.effects === undefined) return undefined
      return loaded.hasImportedEffects ? 'import' : 'file'
    },
    ...(policy && { policy }),
    overrides,
    warnings: inReadingOrder(findings.warnings),
    ...(failure && { failure }),
  }
}

/** A lone file counts as an agent's directory with only that file: its imports stay beside and below it. */
function openFile(path: string, shown: string, findings: Findings): { workplace: Workplace; path: string } {
  const real = realPath(path)
  if (real === undefined) {
    const read = readText(path)
    const problems = [{ file: shown, message: `${read.ok ? 'cannot be found' : read.message}.` }]
    throw new ConfigError('ERR_CONFIG_NOT_FOUND', formatReport(problems), { problems })
  }
  if (!statSync(real).isDirectory())
    return { workplace: { home: dirname(real), shown: dirname(shown) }, path: real }
  const workplace = openDirectory(path, shown)
  return { workplace, path: findMainFile(workplace, findings) }
}

function readLists(file: YamlFile, findings: Findings): ToolLists {
  const { imports, tools } = (file.value ?? {}) as ToolLists
  if (imports === undefined && tools === undefined) {
    const hint = 'Expected: "tools:" with a list under it, or a list of tools.'
    findings.error(file.locate([]), 'There are no tools here.', hint)
  }
  const { value, problems } = fitShape(listsSchema, { imports, tools })
  report(problems, { file, path: [], findings })
  return value ?? withoutFaults(listsSchema, { imports, tools }, problems) ?? {}
}

function documentOf(file: YamlFile, tools: ToolSet): LoadedTools['document'] {
  const expanded = [...tools.values()].map(expandedFormOf)
  if (Array.isArray(file.value)) return expanded
  const { imports: _, ...rest } = (file.value ?? {}) as Record<string, unknown>
  const version = typeof rest.version === 'number' && { version: writtenVersion(rest.version, file) }
  return { ...rest, ...version, tools: expanded }
}
