import { COST_ESTIMATES, STDIN_USES } from '@delta/tool-expander/internal'
import type { AtipEffects, AtipTool, CostEffects, InteractiveEffects, TrustSource } from './metadata.js'

/**
 * Lays a command's own effects over those of its group: what it states wins,
 * what it leaves out it inherits, inside `filesystem`, `interactive` and `cost` too.
 */
export function overlayEffects(group: AtipEffects, own: AtipEffects = {}): AtipEffects {
  const laid = overlay(group, own)
  if (group.filesystem && own.filesystem) laid.filesystem = overlay(group.filesystem, own.filesystem)
  if (group.interactive && own.interactive) laid.interactive = overlay(group.interactive, own.interactive)
  if (group.cost && own.cost) laid.cost = overlay(group.cost, own.cost)
  return laid
}

/**
 * Merges a command's effects with its tool's. Where they differ, the more dangerous one wins:
 * harm is OR, `reversible` and `idempotent` are AND, cost is the higher one.
 */
export function mergeEffects(command: AtipEffects, tool: AtipEffects = {}): AtipEffects {
  const merged = overlay(tool, command)
  anyIs(true, merged, tool, ['destructive', 'network', 'subprocess'])
  anyIs(false, merged, tool, ['reversible', 'idempotent'])
  if (command.filesystem && tool.filesystem) {
    merged.filesystem = overlay(tool.filesystem, command.filesystem)
    anyIs(true, merged.filesystem, tool.filesystem, ['read', 'write', 'delete'])
  }
  if (command.interactive && tool.interactive) {
    merged.interactive = mergeInteractive(command.interactive, tool.interactive)
  }
  if (command.cost && tool.cost) merged.cost = mergeCost(command.cost, tool.cost)
  return merged
}

function mergeInteractive(command: InteractiveEffects, tool: InteractiveEffects): InteractiveEffects {
  const merged = overlay(tool, command)
  anyIs(true, merged, tool, ['prompts', 'tty'])
  if (tool.stdin) merged.stdin = higher(STDIN_USES, command.stdin, tool.stdin)
  return merged
}

function mergeCost(command: CostEffects, tool: CostEffects): CostEffects {
  const merged = overlay(tool, command)
  anyIs(true, merged, tool, ['billable'])
  if (tool.estimate) merged.estimate = higher(COST_ESTIMATES, command.estimate, tool.estimate)
  return merged
}

/** `above` over `below`; a member that is undefined never hides one that is not. */
function overlay<T extends object>(below: T, above: T): T {
  const laid = { ...above }
  for (const member in below) if (laid[member] === undefined) laid[member] = below[member]
  return laid
}

/** Sets each of the members to `decisive` in `merged` where the tool says so. */
function anyIs<T extends object>(decisive: boolean, merged: T, tool: T, members: readonly (keyof T)[]): void {
  for (const member of members) if (tool[member] === decisive) merged[member] = tool[member]
}

function higher<T>(order: readonly T[], a: T | undefined, b: T): T {
  return a !== undefined && order.indexOf(a) > order.indexOf(b) ? a : b
}

/** True when nothing at all is stated. Such a command is unknown, and no rule may count it as safe. */
export function statesNothing(effects: AtipEffects): boolean {
  return Object.values(effects).every((value) => value === undefined)
}

/** The trust that metadata claims; `inferred` if it claims none. */
export function trustOf(tool: AtipTool): TrustSource {
  return tool.trust?.source ?? 'inferred'
}
