import { stat } from 'node:fs/promises'
import { limitedMatcher } from '@delta/executor'
import { ContextError } from '../errors.js'
import type { Condition } from './schema.js'
import { type ContextVariables, resolvePath } from './variables.js'

/** What conditions look at. */
export interface Situation {
  variables: ContextVariables
  environment: NodeJS.ProcessEnv
  /** The iteration that is about to begin, from 1. */
  iteration: number
  /** Everything users said in this run. */
  task: string
}

/** True if the source is to be used now. */
export async function holds(condition: Condition, situation: Situation): Promise<boolean> {
  switch (condition.when) {
    case 'task_contains':
      return matches(condition.pattern, situation.task)
    case 'file_exists':
      return exists(resolvePath(condition.path, situation.variables, 'CWD'))
    case 'env_set':
      return (situation.environment[condition.name] ?? '') !== ''
    case 'iteration_at_least':
      return situation.iteration >= condition.count
    default:
      return condition satisfies never
  }
}

/** @throws {ContextError} `ERR_CONTEXT_SOURCE`: it takes too long to find out. */
function matches(pattern: string, text: string): boolean {
  const matched = limitedMatcher()(new RegExp(pattern, 'i'), text)
  if (typeof matched === 'boolean') return matched
  const message = `context.yaml: the pattern ${pattern} took longer than 1000 ms to search ${text.length} characters.`
  throw new ContextError('ERR_CONTEXT_SOURCE', `${message}\nWrite one repetition: [ab]+ for (a+|b+)+.`)
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // what cannot be looked at is not there for this purpose
  )
}
