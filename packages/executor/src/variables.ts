import { isAbsolute, resolve } from 'node:path'

export interface Variables {
  AGENT_HOME: string
  CWD: string
}

/** Puts the engine's own two variables into a text of a tool's settings. */
export function fillVariables(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: keyof Variables) => variables[name])
}

/** A path of a tool's settings as an absolute one; relative ones start at the workspace. */
export function settingsPath(text: string, variables: Variables): string {
  const filled = fillVariables(text, variables)
  return isAbsolute(filled) ? filled : resolve(variables.CWD, filled)
}
