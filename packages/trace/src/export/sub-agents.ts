import { openTrace, type Trace } from '../trace.js'
import type { TracedRun } from '../traced-run.js'

/** A run of a tree. */
export interface Member {
  trace: Trace
  /** The call that started it; undefined for the first. */
  caller?: { run: TracedRun; actionId: string }
}

/** A run and, below it, the sub-agents whose directories are still there, each once. */
export async function* withSubAgents(trace: Trace): AsyncGenerator<Member> {
  const seen = new Set([trace.run.directory])
  const waiting: Member[] = [{ trace }]
  for (let member = waiting.shift(); member !== undefined; member = waiting.shift()) {
    yield member
    const { run } = member.trace
    const below: Member[] = []
    for (const { directory, actionId, isGone, isInherited } of run.children) {
      if (isGone || isInherited || seen.has(directory)) continue
      seen.add(directory)
      below.push({ trace: await openTrace(directory), caller: { run, actionId } })
    }
    waiting.unshift(...below)
  }
}
