import type { AtipEffects, CostEstimate } from './metadata.js'

const COSTS: readonly CostEstimate[] = ['free', 'low', 'medium', 'high']
const STDIN = ['none', 'optional', 'required', 'password'] as const

/**
 * Lays a command's own effects over those of its group: what it states wins,
 * what it leaves out it inherits, inside `filesystem`, `interactive` and `cost` too.
 */
export function overlayEffects(group: AtipEffects, own: AtipEffects | undefined): AtipEffects {
  if (!own) return group
  if (statesNothing(group)) return own
  return defined({
    ...group,
    ...defined(own),
    filesystem: overlay(group.filesystem, own.filesystem),
    interactive: overlay(group.interactive, own.interactive),
    cost: overlay(group.cost, own.cost),
  })
}

/**
 * Merges a command's effects with its tool's, and where they differ the more dangerous one wins:
 * harm is OR, `reversible` and `idempotent` are AND, cost is the higher one.
 */
export function mergeEffects(command: AtipEffects, tool: AtipEffects | undefined): AtipEffects {
  if (!tool) return command
  return defined({
    ...tool,
    ...command,
    destructive: either(command.destructive, tool.destructive),
    network: either(command.network, tool.network),
    subprocess: either(command.subprocess, tool.subprocess),
    reversible: both(command.reversible, tool.reversible),
    idempotent: both(command.idempotent, tool.idempotent),
    filesystem: mergeFilesystem(command.filesystem, tool.filesystem),
    interactive: mergeInteractive(command.interactive, tool.interactive),
    cost: mergeCost(command.cost, tool.cost),
  })
}

/** 0 for free … 3 for high. */
export function costRank(estimate: CostEstimate): number {
  return COSTS.indexOf(estimate)
}

/** True when nothing at all is stated. Such a command is unknown, and no rule may take it for safe. */
export function statesNothing(effects: AtipEffects): boolean {
  return Object.keys(effects).length === 0
}

function mergeFilesystem(
  a: AtipEffects['filesystem'],
  b: AtipEffects['filesystem'],
): AtipEffects['filesystem'] {
  if (!a || !b) return a ?? b
  return defined({
    ...b,
    ...a,
    read: either(a.read, b.read),
    write: either(a.write, b.write),
    delete: either(a.delete, b.delete),
  })
}

function mergeInteractive(
  a: AtipEffects['interactive'],
  b: AtipEffects['interactive'],
): AtipEffects['interactive'] {
  if (!a || !b) return a ?? b
  return defined({
    ...b,
    ...a,
    stdin: higher(STDIN, a.stdin, b.stdin),
    prompts: either(a.prompts, b.prompts),
    tty: either(a.tty, b.tty),
  })
}

function mergeCost(a: AtipEffects['cost'], b: AtipEffects['cost']): AtipEffects['cost'] {
  if (!a || !b) return a ?? b
  return defined({
    ...b,
    ...a,
    estimate: higher(COSTS, a.estimate, b.estimate),
    billable: either(a.billable, b.billable),
  })
}

function either(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  return a === undefined ? b : a || (b ?? false)
}

function both(a: boolean | undefined, b: boolean | undefined): boolean | undefined {
  return a === undefined ? b : a && (b ?? true)
}

function higher<T>(order: readonly T[], a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return order.indexOf(a) >= order.indexOf(b) ? a : b
}

function overlay<T extends object>(below: T | undefined, above: T | undefined): T | undefined {
  return below && above ? { ...below, ...defined(above) } : (above ?? below)
}

/** Drops members that are undefined, so that spreading one object over another never erases. */
function defined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T
}
