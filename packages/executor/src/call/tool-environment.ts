import { isAgentCommand, startsDelta } from '../tool/agent-command.js'
import type { Tool } from '../tool/define-tool.js'
import { fillVariables } from '../tool/variables.js'
import { variablesOf } from '../tool/working-directory.js'

interface Context {
  workDirectory: string
  environment: NodeJS.ProcessEnv
  credentials?: Readonly<Record<string, string>> | undefined
  actionId?: string | undefined
}

/**
 * The environment of one tool: the run's, the credentials the tool lists in `pass_env:` (all of
 * them when the tool is `delta` itself), and its own `env:`.
 */
export function toolEnvironment(tool: Tool, context: Context, cwd: string): NodeJS.ProcessEnv {
  const { environment, credentials = {}, actionId } = context
  const { env, passEnv } = tool.settings
  const variables = variablesOf(context)
  const own = Object.fromEntries(
    Object.entries(env).map(([name, text]) => [name, fillVariables(text, variables)]),
  )
  const command = tool.expanded.command.map((word) => fillVariables(word, variables))
  const mayHaveKeys =
    isAgentCommand(tool.expanded.command) && // as it is written: by that the loader judges it
    startsDelta(command, { cwd, env: { ...environment, ...own }, trusted: environment })
  const passed = Object.entries(credentials).filter(([name]) => mayHaveKeys || passEnv.includes(name))
  const place = actionId === undefined ? { PWD: cwd } : { PWD: cwd, DELTA_ACTION_ID: actionId }
  return Object.assign({}, environment, Object.fromEntries(passed), own, place)
}
