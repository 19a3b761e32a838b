import { resolve } from 'node:path'

/** What `${AGENT_HOME}`, `${CWD}` and `${RUN_DIR}` stand for: absolute directories. */
export interface ContextVariables {
  AGENT_HOME: string
  CWD: string
  RUN_DIR: string
}

export const VARIABLE = /\$\{([^}]*)\}/g
export const VARIABLE_NAMES: readonly string[] = ['AGENT_HOME', 'CWD', 'RUN_DIR']

/** Replaces the engine's variables; every other text stays as it is. */
export function replaceVariables(text: string, variables: ContextVariables): string {
  return text.replaceAll(VARIABLE, (whole, name: string) => (isName(name) ? variables[name] : whole))
}

/** A text of `context.yaml` with the engine's variables replaced; with a backslash before it one is meant literally. */
export function fillText(text: string, variables: ContextVariables): string {
  return text.replaceAll(/\\?\$\{([^}]*)\}/g, (whole, name: string) => {
    if (whole.startsWith('\\')) return whole.slice(1)
    return isName(name) ? variables[name] : whole
  })
}

/** A path of `context.yaml` as an absolute one. Relative ones start at `base`. */
export function resolvePath(path: string, variables: ContextVariables, base: keyof ContextVariables): string {
  return resolve(variables[base], replaceVariables(path, variables))
}

function isName(name: string): name is keyof ContextVariables {
  return VARIABLE_NAMES.includes(name)
}
