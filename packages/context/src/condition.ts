import { stat } from 'node:fs/promises'
import type { Condition } from './manifest.js'
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
      return new RegExp(condition.pattern, 'i').test(situation.task)
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

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false, // what cannot be looked at is not there for this purpose
  )
}
