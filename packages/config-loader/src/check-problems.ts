import { requireThat } from './usage.js'

/** @throws {ConfigError} `ERR_CONFIG_USAGE`: it is no list of problems. */
export function checkProblems(name: string, problems: unknown): void {
  const isList = Array.isArray(problems) && problems.every(isProblem)
  requireThat(isList, name, 'problems, as a ConfigError has them')
}

function isProblem(problem: unknown): boolean {
  const { file, message } = Object(problem)
  return typeof file === 'string' && typeof message === 'string'
}
