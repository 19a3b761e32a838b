import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { type CommandOptions, type CommandOutcome, runCommand } from '../src/index.js'

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
