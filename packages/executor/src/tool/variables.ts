import { isAbsolute, resolve } from 'node:path'

export interface Variables {
  AGENT_HOME: string
  CWD: string
}

/** Puts the engine's own two variables into a text of a tool's settings. */
export function fillVariables(text: string, variables: Variables): string {
  return text.replaceAll(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: keyof Variables) => variables[name])
}

/** Both as absolute paths: a command would look for a relative one from where it runs. */
export function absolute({ AGENT_HOME, CWD }: Variables): Variables {
  const [home = '', workDirectory = ''] = [AGENT_HOME, CWD].map((path) =>
    isAbsolute(path) ? path : resolve(path),
  )
  return { AGENT_HOME: home, CWD: workDirectory }
}

/** A path of a tool's settings as an absolute one; relative ones start at the workspace. */
export function settingsPath(text: string, variables: Variables): string {
  const filled = fillVariables(text, variables)
  return isAbsolute(filled) ? filled : resolve(variables.CWD, filled)
}
