import { dirname, resolve } from 'node:path'
import { fitShape, type ValuePath } from '@delta/settings'
import type * as z from 'zod/mini'
import { readYaml } from './files.js'
import { invalid } from './load-agent.js'
import { collectFindings } from './problems.js'
import { inside, report, strictly, wrong } from './report.js'

/** A file of settings that fits its schema. */
export interface SettingsFile<Value> {
  value: Value
  /** Notes what is wrong with the value at a path; `refuse` then reports it with its place. */
  wrong(path: ValuePath, message: string, hint?: string): void
  /** @throws {ConfigError} Something was noted. */
  refuse(): void
}

/**
 * Reads one YAML file of a schema of the caller's; unknown keys are errors.
 *
 * @param schemaOf - The schema, which may depend on the form that the author chose.
 * @param shownAs - What messages call the file.
 * @throws {ConfigError} `ERR_CONFIG_INVALID`: it is not there or does not fit, with every problem found.
 */
export function readSettings<Value>(
  path: string,
  schemaOf: (value: unknown) => z.ZodMiniType<Value>,
  { shownAs = path }: { shownAs?: string } = {},
): SettingsFile<Value> {
  const findings = collectFindings()
  const absolute = resolve(path)
  const workplace = { home: dirname(absolute), shown: dirname(shownAs) }
  const { exists, file } = readYaml(absolute, workplace, findings)
  if (!exists) findings.error({ file: shownAs }, 'The file does not exist.')
  if (file === undefined) throw invalid(findings)
  const { value, problems } = fitShape(schemaOf(file.value), file.value)
  const spot = { file, path: [], findings }
  report(problems, strictly(spot))
  const refuse = (): void => {
    if (findings.problems.length > 0) throw invalid(findings)
  }
  if (value === undefined) throw invalid(findings)
  return { value, wrong: (at, ...said) => wrong(inside(spot, ...at), ...said), refuse }
}
