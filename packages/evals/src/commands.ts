import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { planOf } from './stored.js'

/** What a person types to go on with an evaluation. */
export interface EvalCommands {
  /** Plans again what eval.yaml says now, and works on what is open. Without an eval.yaml: works only. */
  run: string
  retry: string
}

/** As they are typed where nothing else is to be named. */
export const USUAL_COMMANDS: EvalCommands = { run: 'delta eval run', retry: 'delta eval retry' }

/** The commands for one evaluation, with the file or the directory where another one would be meant. */
export function evalCommands(directory: string, cwd = process.cwd()): EvalCommands {
  const plan = planOf(directory)
  if (plan === undefined) return USUAL_COMMANDS
  const source = resolve(directory, plan.source)
  const file = shortly(source, cwd)
  const shown = shortly(resolve(directory), cwd)
  const isUsual = join(dirname(source), `${plan.name}.eval`) === resolve(directory)
  const named = file === 'eval.yaml' ? [] : [file]
  const run = ['run', ...named, ...(isUsual ? [] : ['--into', shown])]
  return {
    run: quoteForPerson(['delta', 'eval', ...(existsSync(source) ? run : ['work', shown])]),
    retry: quoteForPerson(['delta', 'eval', 'retry', ...(isUsual && named.length === 0 ? [] : [shown])]),
  }
}

/** A path as a person would type it. */
function shortly(path: string, cwd: string): string {
  const fromHere = relative(cwd, path) || '.'
  return fromHere.length < path.length ? fromHere : path
}
