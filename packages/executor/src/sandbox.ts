import * as z from 'zod/mini'
import type { Place } from './environment.js'

/** What confines a command: a kind of sandbox is a function that gives this, as `bubblewrap` does. */
export interface Sandbox {
  /** The words in front of the command; the first names the program. */
  readonly prefix: readonly string[]
  /** Why it cannot start now, and what to do; undefined when it can. */
  problem(place: Place): Promise<string | undefined>
}

/** Paths are absolute, relative to the workspace, or begin with `CWD`, `AGENT_HOME`, `${TOOL_HOME}` or `~`. */
export interface SandboxSettings {
  /** Default false. */
  network: boolean
  /** What may be written. Default: the workspace; an empty list: nothing. */
  write: readonly string[]
  /** What is there to read of `/tmp`, `/run` and the home directory, which are empty inside but for the workspace and the agent. */
  read: readonly string[]
}

export const DEFAULT_SANDBOX: SandboxSettings = { network: false, write: ['CWD'], read: [] }

/** `sandbox:` of a tool as it is written. */
export const sandboxSchema = /* @__PURE__ */ z.lazy(() => {
  const paths = z.optional(z.array(z.string()))
  const listed = z.strictObject({ network: z.optional(z.boolean()), write: paths, read: paths })
  return z.union([z.boolean(), listed])
})
