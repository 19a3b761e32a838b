import { defineTool, type ExecuteContext, executeTool, type WrittenTool } from '../src/index.js'

/** A tool that is a script, in a sandbox. */
export function script(text: string, sandbox: WrittenTool['sandbox'] = true, settings: object = {}) {
  return defineTool({ name: 'tool', command: ['sh', '-c', text], sandbox, ...settings })
}

/** Runs such a script as a tool call. */
export async function run(
  text: string,
  directory: string,
  sandbox: WrittenTool['sandbox'] = true,
  context: Partial<ExecuteContext> = {},
  settings: object = {},
) {
  const tools = [script(text, sandbox, settings)]
  return executeTool(tools, { name: 'tool', arguments: {} }, { cwd: directory, env: process.env, ...context })
}

/** The context of an agent in this directory. */
export function agentIn(home: string): Partial<ExecuteContext> {
  return { env: { ...process.env, AGENT_HOME: home } }
}
