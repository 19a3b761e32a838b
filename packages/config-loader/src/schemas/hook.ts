import * as z from 'zod/mini'

/** The points of a run at which a command may be run, in the words of `hooks.yaml`. */
export const HOOK_NAMES = [
  'pre_llm_request',
  'post_llm_response',
  'pre_tool_execution',
  'post_tool_execution',
  'on_error',
  'on_run_end',
  'on_iteration_start',
  'on_iteration_end',
] as const

/** A point of a run at which a command may be run; see `docs/how-to/hooks.md` for what each is told. */
export type HookName = (typeof HOOK_NAMES)[number]

/** A command that runs at one point of a run. */
export interface Hook {
  /** May contain `${AGENT_HOME}` and `${CWD}`. */
  command: string[]
  /** 0: no limit. Default 30000. */
  timeoutMs: number
  /** Names of engine credentials this command may see. */
  passEnv: string[]
}

/** What `hooks.yaml` says: at most one command for each point. */
export type Hooks = { [name in HookName]?: Hook }

export const hookSchema = z.strictObject({
  command: z
    .array(z.string().check(z.minLength(1)))
    .check(
      z.minLength(1),
      z.describe('The program and its arguments; ${AGENT_HOME} and ${CWD} are replaced.'),
    ),
  timeout_ms: z.optional(z.int().check(z.gte(0), z.describe('Default 30000; 0 for no limit.'))),
  pass_env: z.optional(z.array(z.string()).check(z.describe('Engine credentials it may see, by name.'))),
  description: z.optional(z.string().check(z.describe('What it is for; for readers.'))),
})
