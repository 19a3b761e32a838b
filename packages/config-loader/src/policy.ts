import { type Policy, parsePolicy } from '@delta/executor'
import { inside, report, reportUnknownName, type Spot } from './shape.js'
import type { ToolSet } from './tools.js'

const NOTHING_UNDER_IT =
  'policy: nothing is under it, so the defaults hold: a person is asked before what is destructive, and interactive tools are refused.'
const WRITE_A_RULE = 'Write policy: {} if that is what you want, or remove the key to allow every effect.'

/** Reads `policy:`. Without anything under it the defaults of all rules hold. A rule with a name nobody knows is an error: it would protect nothing. */
export function readPolicy(value: unknown, spot: Spot): Policy | undefined {
  if (value === undefined) return undefined
  const { file, path, findings } = spot
  if (value === null) findings.warn(file.locate(path, { key: true }), NOTHING_UNDER_IT, WRITE_A_RULE)
  const parsed = parsePolicy(value ?? {})
  if (parsed.ok) return parsed.policy
  for (const problem of parsed.problems) {
    const isKey = parsed.unknownKeys.includes(problem.path)
    if (!isKey) report([problem], spot)
    else
      findings.error(
        file.locate([...path, problem.path], { key: true }),
        `policy: ${problem.message}.`,
        problem.hint,
      )
  }
  return undefined
}

/** Reports consent to a tool that is not there. Where a tool could not be read, its name may be the one that is meant. */
export function checkPolicyTools(policy: Policy | undefined, tools: ToolSet, spot: Spot): void {
  if (spot.findings.problems.length > 0) return
  for (const name of Object.keys(policy?.tools ?? {})) {
    if (tools.has(name)) continue
    reportUnknownName(inside(spot, 'tools', name), `policy.tools: there is no tool "${name}".`, {
      known: [...tools.keys()],
      otherwise: 'Remove it.',
    })
  }
}
