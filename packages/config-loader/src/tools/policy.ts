import { nearestNames, POLICY_KEYS, type Policy, parsePolicy } from '@delta/executor'
import type { Findings } from '../findings.js'
import { reportForeign } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'

const NOTHING_UNDER_IT =
  'policy: nothing is under it, so the defaults hold: a person is asked before what is destructive, and interactive tools are refused.'
const WRITE_A_RULE = 'Write policy: {} if that is what you want, or remove the key to allow every effect.'

/** Reads `policy:`. Without anything under it the defaults of all rules hold. A rule with a name nobody knows is an error: it would protect nothing. */
export function readPolicy(value: unknown, file: YamlFile, findings: Findings): Policy | undefined {
  if (value === undefined) return undefined
  if (value === null) findings.warn(file.locate(['policy'], { key: true }), NOTHING_UNDER_IT, WRITE_A_RULE)
  const parsed = parsePolicy(value ?? {})
  const problems = parsed.ok ? [] : parsed.problems.filter(({ path }) => !parsed.unknownKeys.includes(path))
  reportForeign(problems, file, ['policy'], findings.error)
  for (const key of parsed.unknownKeys) {
    const [nearest] = nearestNames(key, POLICY_KEYS)
    const hint =
      nearest === undefined ? `The rules are ${POLICY_KEYS.join(', ')}.` : `Did you mean "${nearest}"?`
    findings.error(
      file.locate(['policy', key], { key: true }),
      `policy: there is no rule "${key}"; it would protect nothing.`,
      hint,
    )
  }
  return parsed.ok ? parsed.policy : undefined
}
