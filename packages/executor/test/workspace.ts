import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import {
  type CommandOptions,
  type CommandOutcome,
  defineTool,
  type ExecuteContext,
  executeTool,
  runCommand,
  type ToolResult,
} from '../src/index.js'

/** A directory with these files, gone when the test is. */
export function workspace(files: Record<string, string> = {}): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(files, { onCleanup: onTestFinished })
}

/** Runs a command in a directory of its own, with the environment of the tests. */
export async function run(
  argv: readonly string[],
  options: Partial<CommandOptions> = {},
): Promise<CommandOutcome> {
  return runCommand(argv, { cwd: (await workspace()).path, env: process.env, ...options })
}

/** The first number in what a program wrote down about itself. */
export function pidIn(text: string): number {
  return Number(/\d+/.exec(text)?.[0])
}

/** Calls one tool, given by its definition, in a directory of its own. */
export async function call(
  definition: object,
  args: object = {},
  context: Partial<ExecuteContext> = {},
): Promise<ToolResult> {
  const cwd = context.cwd ?? (await workspace()).path
  const tools = [defineTool({ name: 'tool', ...definition })]
  const sent = { name: 'tool', arguments: JSON.stringify(args) }
  return executeTool(tools, sent, { cwd, env: process.env, ...context })
}
