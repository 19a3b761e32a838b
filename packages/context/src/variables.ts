import { isAbsolute, resolve } from 'node:path'
import type { ManifestProblem } from './issues.js'
import type { WrittenManifest } from './schema.js'

/** What `${AGENT_HOME}`, `${CWD}` and `${RUN_DIR}` stand for: absolute directories. */
export interface ContextVariables {
  AGENT_HOME: string
  CWD: string
  RUN_DIR: string
}

const VARIABLE = /\$\{([^}]*)\}/g
const NAMES: readonly string[] = ['AGENT_HOME', 'CWD', 'RUN_DIR']

/** Replaces the engine's variables; every other text stays as it is. */
export function replaceVariables(text: string, variables: ContextVariables): string {
  return text.replaceAll(VARIABLE, (whole, name: string) => (isName(name) ? variables[name] : whole))
}

/** A path of `context.yaml` as an absolute one. Relative ones start at `base`. */
export function resolvePath(path: string, variables: ContextVariables, base: keyof ContextVariables): string {
  return resolve(variables[base], replaceVariables(path, variables))
}

/** Finds paths with unknown variables (problems), and relative ones, whose start is easily misjudged (warnings). */
export function checkPaths({ sources }: WrittenManifest): {
  problems: ManifestProblem[]
  warnings: ManifestProblem[]
} {
  const problems: ManifestProblem[] = []
  const warnings: ManifestProblem[] = []
  for (const { path, value, base } of sources.flatMap(pathsOf)) {
    for (const [written, name] of value.matchAll(VARIABLE)) {
      if (name === undefined || isName(name)) continue
      const hint = `The variables are ${NAMES.map((known) => `\${${known}}`).join(', ')}.`
      problems.push({ path, message: `there is no variable ${written}`, hint })
    }
    if (!value.startsWith('${') && !isAbsolute(value)) {
      const hint = `Write it out: \${${base}}/${value.replace(/^\.\//, '')}`
      warnings.push({ path, message: `the relative path "${value}" starts at \${${base}}`, hint })
    }
  }
  return { problems, warnings }
}

interface WrittenPath {
  path: string
  value: string
  base: keyof ContextVariables
}

function pathsOf(source: WrittenManifest['sources'][number], index: number): WrittenPath[] {
  const at = `sources[${index}]`
  const paths: WrittenPath[] = []
  if (source.type === 'file') paths.push({ path: `${at}.path`, value: source.path, base: 'AGENT_HOME' })
  if (source.type === 'computed_file')
    paths.push({ path: `${at}.output_path`, value: source.output_path, base: 'CWD' })
  if (source.condition?.when === 'file_exists') {
    paths.push({ path: `${at}.condition.path`, value: source.condition.path, base: 'CWD' })
  }
  return paths
}

function isName(name: string): name is keyof ContextVariables {
  return NAMES.includes(name)
}
