import type { ContextManifest } from '@delta/context'
import type { Policy, Tool } from '@delta/executor'
import type { LlmSettings, ScriptTurn } from '@delta/model'
import type { Hooks } from './schemas/hook.js'
import type { Snapshot } from './snapshot.js'
import type { Override } from './tools/tool-set.js'

/** What counts where `agent.yaml` says nothing. */
export const AGENT_DEFAULTS = {
  /** Cycles after a message of the user, before the run fails. */
  maxIterations: 30,
  /** How many calls of one response may run side by side. */
  toolConcurrency: 1,
  /** How many calls of one response run at all. */
  maxToolCalls: 128,
} as const

/** One agent, validated: everything a run needs to know of its files. */
export interface Agent {
  /** Absolute, symbolic links resolved. */
  home: string
  /** `name` of `agent.yaml`: for people, and in journals. */
  name: string
  /** The author's own, kept as a record. */
  version?: string
  /** For people. */
  description?: string
  llm: LlmSettings
  /** The turns of a scripted model, if `llm.provider` is `script`. */
  script?: ScriptTurn[]
  /** Cycles after a message of the user, before the run fails; absent: see `AGENT_DEFAULTS`. */
  maxIterations?: number
  /** How many calls of one response may run side by side. */
  toolConcurrency: number
  /** How many calls of one response run at all; absent: see `AGENT_DEFAULTS`. */
  maxToolCalls?: number
  /** Absent: every effect of the author's own tools is allowed; see `decide` of `@delta/executor`. */
  policy?: Policy
  /** By name; imports first, then the agent's own. */
  tools: ReadonlyMap<string, Tool>
  /** What `context.yaml` says. */
  manifest: ContextManifest
  /** What `hooks.yaml` says; empty without one. */
  hooks: Hooks
  snapshot: Snapshot
  /** Tools of the same name in several files, and which one counts. */
  overrides: Override[]
}
