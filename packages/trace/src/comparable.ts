import type { TracedRun } from './traced-run.js'

/**
 * Makes texts of two runs comparable: the paths of both runs, and of those they were forked from, get the same names, and what does
 * not count is masked.
 */
export interface Comparable {
  (text: string): string
  /** Where a place in the comparable text is in the text itself: of what was replaced, its beginning. */
  placeIn(text: string, at: number): number
  /** How many texts were masked so far. */
  masked(): number
}

/**
 * @param runs - Their workspaces, directories, agents and directories of tools have one name in all texts.
 * @param masks - Text that does not count; with the flag `g`.
 */
export function comparable(runs: readonly TracedRun[], masks: readonly RegExp[] = []): Comparable {
  const paths = new Map<string, string>()
  for (const { agents, tools, workspaces, directories } of runs.map(({ places }) => places)) {
    for (const path of tools) paths.set(path, '${TOOL_HOME}')
    for (const path of agents) paths.set(path, '${AGENT_HOME}')
    for (const path of workspaces) paths.set(path, '${CWD}')
    for (const path of directories) paths.set(path, '${RUN_DIR}')
  }
  // a path ends where no further character of a name follows: a workspace x may stand beside an agent x-agent; a sentence ends in a dot
  const longestFirst = [...paths.keys()].sort((one, other) => other.length - one.length)
  const places = new RegExp(`(?:${longestFirst.map(escaped).join('|')})(?!\\.*[\\p{L}\\p{N}_-])`, 'gu')
  let count = 0
  const passes: { pattern: RegExp; by: (found: string) => string }[] = [
    ...(paths.size === 0 ? [] : [{ pattern: places, by: (path: string) => paths.get(path) ?? path }]),
    ...masks.map((pattern) => ({ pattern, by: () => '[masked]' })),
  ]

  function equal(text: string): string {
    return passes.reduce(
      (changed, { pattern, by }) =>
        changed.replace(pattern, (found) => {
          if (pattern !== places) count += 1
          return by(found)
        }),
      text,
    )
  }

  /** Back through each pass, by what it made longer or shorter before the place. */
  function placeIn(text: string, at: number): number {
    const before = [text]
    for (const { pattern, by } of passes)
      before.push((before.at(-1) ?? '').replace(pattern, (found) => by(found)))
    return passes.reduceRight((place, { pattern, by }, pass) => {
      let longer = 0
      for (const { 0: found, index: start } of (before[pass] ?? '').matchAll(pattern)) {
        const end = start + longer + by(found).length
        if (start + longer >= place) break
        if (end > place) return start
        longer += by(found).length - found.length
      }
      return place - longer
    }, at)
  }

  return Object.assign(equal, { placeIn, masked: () => count })
}

/** A text as a pattern that matches only it. */
export function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const EXCERPT_CHARACTERS = 80

/** Where two texts differ, and what stands around that place in each; undefined if they do not. */
export function firstDifference(
  left: string,
  right: string,
): { at: number; left: string; right: string } | undefined {
  if (left === right) return undefined
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return { at, left: excerpt(left, at), right: excerpt(right, at) }
}

/** At most eighty characters around a place, with `…` where more stands before or behind them. */
function excerpt(text: string, at = 0): string {
  const from = Math.max(0, Math.min(at - EXCERPT_CHARACTERS / 2, text.length - EXCERPT_CHARACTERS))
  const to = from + EXCERPT_CHARACTERS
  return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
}

/** As `firstDifference`, of texts that may be missing. */
export function differing(
  left: string | undefined,
  right: string | undefined,
): { left: string | null; right: string | null } | undefined {
  if (left === right) return undefined
  if (left === undefined || right === undefined)
    return {
      left: left === undefined ? null : excerpt(left),
      right: right === undefined ? null : excerpt(right),
    }
  const found = firstDifference(left, right)
  return found && { left: found.left, right: found.right }
}
