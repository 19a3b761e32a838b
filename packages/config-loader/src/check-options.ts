import type { LoadOptions } from './parts.js'
import { isObject, isText, requireThat } from './usage.js'

/** @throws {ConfigError} `ERR_CONFIG_USAGE`, naming the first argument that cannot be used. */
export function checkLoading(name: string, path: string, options: LoadOptions): void {
  requireThat(isText(path), `${name}: the path, its first argument,`, "a path as text, as in './my-agent'")
  const { environment, importRoots }: Partial<LoadOptions> = Object(options)
  requireThat(isObject(environment), `${name}: the option environment`, ENVIRONMENT)
  const isList = importRoots === undefined || Array.isArray(importRoots)
  requireThat(isList, `${name}: the option importRoots`, 'a list of directories, or nothing')
}

export function checkEnvironmentOptions(options: unknown): void {
  const { workDirectory, agentHome, environment } = Object(options)
  const of = 'loadEnvironment: the option'
  requireThat(isText(workDirectory), `${of} workDirectory`, 'the path of the workspace')
  requireThat(isText(agentHome), `${of} agentHome`, "the path of the agent's directory")
  requireThat(isObject(environment), `${of} environment`, ENVIRONMENT)
}

const ENVIRONMENT = '{ environment: process.env }, or a part of it'
