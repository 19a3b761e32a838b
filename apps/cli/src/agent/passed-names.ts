import type { Agent, Environment } from '@delta/config-loader'
import { CREDENTIAL_NAMES } from '@delta/executor'

/** A warning for each name in a `pass_env` that has no value, so that the command does not find it. */
export function passedWithoutValue(
  { tools, hooks, manifest }: Agent,
  {
    apiKey,
    baseUrl,
    environment,
  }: Pick<Environment, 'apiKey' | 'baseUrl'> & { environment: NodeJS.ProcessEnv },
): string[] {
  const generators = manifest.sources.flatMap((source) =>
    source.type === 'computed_file'
      ? [[`context source ${source.id ?? source.outputPath}`, source.generator.passEnv] as const]
      : [],
  )
  const lists: (readonly [string, readonly string[]])[] = [
    ...[...tools].map(([name, { settings }]) => [`tool "${name}"`, settings.passEnv] as const),
    ...Object.entries(hooks).map(([name, { passEnv }]) => [`hook ${name}`, passEnv] as const),
    ...generators,
    ['token_counter', manifest.tokenCounter?.passEnv ?? []],
  ]
  const keys = Object.fromEntries(CREDENTIAL_NAMES.map((name) => [name, apiKey]))
  const values: NodeJS.ProcessEnv = {
    ...environment,
    ...keys,
    ...(baseUrl === undefined ? {} : { DELTA_BASE_URL: baseUrl }),
  }
  return lists.flatMap(([command, names]) =>
    names
      .filter((name) => !values[name])
      .map((name) => `pass_env of ${command}: ${name} has no value, so the command will not find it.`),
  )
}
