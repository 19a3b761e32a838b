import { isDelta, type Tool } from './define-tool.js'
import { fillVariables } from './variables.js'
import { variablesOf } from './working-directory.js'

interface Place {
  workDirectory: string
  environment: NodeJS.ProcessEnv
  credentials?: Readonly<Record<string, string>>
  actionId?: string
}

/**
 * The environment of one tool: the run's, the credentials the tool lists in `pass_env:` (all of
 * them when the tool is `delta` itself), and its own `env:`.
 */
export function toolEnvironment(tool: Tool, place: Place, cwd: string): NodeJS.ProcessEnv {
  const { environment, credentials = {}, actionId } = place
  const { env, passEnv } = tool.settings
  const variables = variablesOf(place)
  const passed = Object.entries(credentials).filter(([name]) => isDelta(tool) || passEnv.includes(name))
  const own = Object.entries(env).map(([name, text]) => [name, fillVariables(text, variables)])
  return {
    ...environment,
    ...Object.fromEntries(passed),
    ...Object.fromEntries(own),
    PWD: cwd,
    ...(actionId !== undefined && { DELTA_ACTION_ID: actionId }),
  }
}
