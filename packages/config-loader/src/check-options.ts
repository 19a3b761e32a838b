import type { LoadOptions } from './parts/parts.js'
import { isObject, isText, requireThat } from './usage.js'

/** @throws {ConfigError} `ERR_CONFIG_USAGE`, naming the first argument that cannot be used. */
export function checkLoading(name: string, path: string, options: LoadOptions): void {
  requireThat(isPath(path), `${name}: the path, its first argument,`, "a path, as in './my-agent'")
  const { environment, importRoots, shownAs, cache, overrides }: Partial<LoadOptions> = Object(options)
  requireThat(isObject(environment), `${name}: the option environment`, ENVIRONMENT)
  const isList = importRoots === undefined || (Array.isArray(importRoots) && importRoots.every(isPath))
  requireThat(isList, `${name}: the option importRoots`, 'a list of directories, or nothing')
  const areSets = overrides === undefined || (Array.isArray(overrides) && overrides.every(isText))
  requireThat(areSets, `${name}: the option overrides`, "a list such as ['llm.model=gpt-4o'], or nothing")
  const isName = shownAs === undefined || isText(shownAs)
  requireThat(isName, `${name}: the option shownAs`, 'a string, or nothing')
  const isCache =
    cache === undefined || [cache?.read, cache?.write].every((part) => typeof part === 'function')
  requireThat(isCache, `${name}: the option cache`, '{ read(), write(text) }, or nothing')
}

export function checkEnvironmentOptions(options: unknown): void {
  const { workDirectory, agentHome, environment } = Object(options)
  const of = 'loadEnvironment: the option'
  requireThat(isPath(workDirectory), `${of} workDirectory`, 'the path of the workspace')
  requireThat(isPath(agentHome), `${of} agentHome`, "the path of the agent's directory")
  requireThat(isObject(environment), `${of} environment`, ENVIRONMENT)
}

/** A name with a NUL byte is none, and would fail where it first meets the file system. */
function isPath(path: unknown): boolean {
  return isText(path) && !path.includes('\0')
}

const ENVIRONMENT = '{ environment: process.env }, or a part of it'
