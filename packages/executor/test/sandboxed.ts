import { defineTool, type ExecuteContext, executeTool, toolMap, type WrittenTool } from '../src/index.js'

/** A tool that is a script, in a sandbox. */
export function script(text: string, sandbox: WrittenTool['sandbox'] = true, settings: object = {}) {
  return toolMap([defineTool({ name: 'tool', command: ['sh', '-c', text], sandbox, ...settings })])
}

/** Runs such a script as a tool call. */
export async function run(
  text: string,
  directory: string,
  sandbox: WrittenTool['sandbox'] = true,
  context: Partial<ExecuteContext> = {},
  settings: object = {},
) {
  return executeTool(
    script(text, sandbox, settings),
    { name: 'tool', arguments: {} },
    { workDirectory: directory, environment: process.env, ...context },
  )
}

/** The context of an agent in this directory. */
export function agentIn(home: string): Partial<ExecuteContext> {
  return { environment: { ...process.env, AGENT_HOME: home } }
}
