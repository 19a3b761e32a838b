import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { areInstalled } from '@delta/testkit'
import {
  type BindResult,
  bindArguments,
  type ExpandedTool,
  formatProblem,
  safeParseTool,
} from '../src/index.js'

export const variables = { AGENT_HOME: '/agent home', CWD: '/work', TOOL_HOME: '/tool home' }

/** Those of the shells that scripts are tried in which are here. */
export const SHELLS = ['dash', 'bash'].filter((name) => areInstalled(name))

/** Loads a tool that must be accepted. */
export function load(definition: object): ExpandedTool {
  const parsed = safeParseTool({ name: 'tool', ...definition })
  if (!parsed.ok) throw new Error(parsed.problems.map((problem) => formatProblem(problem)).join('\n\n'))
  return parsed.expanded
}

/** Loads a tool that must be refused; every problem as the user reads it. */
export function refusal(definition: object): string {
  const parsed = safeParseTool({ name: 'tool', ...definition })
  if (parsed.ok) throw new Error(`accepted: ${JSON.stringify(parsed.expanded)}`)
  return parsed.problems.map((problem) => formatProblem(problem)).join('\n\n')
}

export function bind(definition: object, args: unknown): BindResult {
  return bindArguments(load(definition), args, { variables })
}

/** The argument vector of a call that must be accepted. */
export function argvOf(definition: object, args: unknown): string[] {
  const result = bind(definition, args)
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join('\n'))
  return result.argv
}

export interface Outcome {
  stdout: string
  stderr: string
  exitCode: number | null
}

/** Runs a real process without any shell of ours around it. */
export async function run(
  argv: readonly string[],
  options: { cwd?: string; stdin?: string } = {},
): Promise<Outcome> {
  const [program = '', ...rest] = argv
  const child = spawn(program, rest, { cwd: options.cwd, stdio: 'pipe' })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => undefined) // a program that does not read its input is fine
  child.stdin.end(options.stdin ?? '')
  const [exitCode] = await once(child, 'close')
  return { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), exitCode }
}

/** Loads, binds and runs a tool. `shell` stands in for `sh`: a name, or a program and its first arguments. */
export async function call(
  definition: object,
  args: unknown,
  options: { cwd?: string; shell?: string | readonly string[] } = {},
): Promise<Outcome> {
  const result = bind(definition, args)
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join('\n'))
  const [program = '', ...rest] = result.argv
  const argv = [...(program === 'sh' ? [options.shell ?? 'sh'].flat() : [program]), ...rest]
  return run(argv, { ...options, ...(result.stdin === undefined ? {} : { stdin: result.stdin }) })
}
