import { withSeed } from '@delta/workspace/internal'
import { limitsAsOverrides } from './limits.js'
import type { CellLimits, Plan, PlannedVariant } from './types.js'

/** What is set in the agent of a cell, as `path=value`. What the evaluation says comes last. */
export function overridesFor(
  plan: Pick<Plan, 'snapshots' | 'provider_wait'>,
  { variant, limits, seed }: { variant: Pick<PlannedVariant, 'set'>; limits: CellLimits; seed: number },
): string[] {
  return [
    ...withSeed(variant.set, seed),
    `snapshots=${plan.snapshots === undefined ? 'off' : JSON.stringify(plan.snapshots)}`,
    ...limitsAsOverrides(limits),
    ...(plan.provider_wait === undefined ? [] : [`llm.retry.max_wait=${plan.provider_wait}`]),
  ]
}
