import { bindArguments, type ExpandedTool, type Matches } from '@delta/tool-expander'
import { withAnswers } from '@delta/tool-expander/internal'
import { bubblewrap } from './bubblewrap.js'
import { isServerCall, type ToolVariables, toolVariables, type Variables } from './environment.js'
import { hasTooManyValues, isTooDeep, MOST_VALUES } from './json-limits.js'
import { patternBudget } from './pattern-budget.js'
import { decide, type Policy } from './policy.js'
import { quoteCommand, showControls } from './quote.js'
import { adviceOnDash, badArguments, blockedByPolicy, refusedArguments, unknownTool } from './refusals.js'
import type { Sandbox } from './sandbox.js'
import type { Tool } from './tool.js'

/** A call as a model sends it: the arguments are JSON text, or the value already parsed. */
export interface ToolCall {
  /** As the model wrote it; there may be no such tool. */
  name: string
  arguments: unknown
}

/** What a call is judged and bound by. */
export interface CallContext {
  /** What `${AGENT_HOME}` and `${CWD}` stand for: absolute directories. */
  variables: Variables
  /** The directory of runs outside the workspace: hidden in a sandbox, as every `.delta` is. */
  runsDirectory?: string | undefined
  /** Files and directories that the agent is made of, besides its own directory: read-only in a sandbox, as that is. */
  imported?: readonly string[] | undefined
  /** Absent: every effect of the author's own tools is allowed; see `decide`. */
  policy?: Policy | undefined
  /** Compares values with patterns. Calls of one answer share a `patternBudget`. Default: a second for this call. */
  matches?: Matches | undefined
  /** Other names the caller offers and runs itself; listed when a model calls an unknown tool. */
  otherNames?: readonly string[] | undefined
}

/** A call that will not run. */
export interface RefusedCall {
  /** Distinguishes it from a `RunnableCall`. */
  decision: 'refuse'
  /** `BLOCKED`: by the policy. `ERROR`: there is no such tool, or its arguments do not fit. */
  status: 'ERROR' | 'BLOCKED'
  /** What was sent: parsed, or the raw text if it is not a JSON object. */
  args: unknown
  /** What the model reads instead of a result. */
  observation: string
  /** What the tool's author can change, if that is why. The same for each such call. */
  advice?: string
}

/** A call whose command is known to the last word, and has not been started. */
export interface RunnableCall {
  /** `ask`: only after a person has approved exactly this `argv`. */
  decision: 'allow' | 'ask'
  tool: Tool
  /** By the names of the parameters, as the model sent them. */
  args: Record<string, unknown>
  /** What `argv` was bound with. */
  variables: ToolVariables
  /** Its words are the first of `argv`. */
  sandbox?: Sandbox
  /** For `delta mcp call`: what confines the server that it calls, not the call. */
  serverSandbox?: Sandbox
  /** What starts, sandbox included. */
  argv: string[]
  /** Absent: end of file at once. */
  stdin?: string
  /** `argv` as a line for a shell. */
  resolvedCommand: string
  /** Why a person must approve it; empty if not. */
  reasons: string[]
}

/** A call that can run, or one that is refused, told apart by `decision`. */
export type PreparedCall = RefusedCall | RunnableCall

/**
 * Does everything before a command starts: look up, read the arguments, ask the policy, bind. It only looks at which
 * directories a sandbox must hide. Whatever a model sends has an answer.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: the policy was not read by `parsePolicy`.
 */
export function prepareCall(
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  context: CallContext,
): PreparedCall {
  const tool = tools.get(call.name)
  if (!tool) {
    const name = typeof call.name === 'string' ? call.name : ''
    const known = [...tools.keys(), ...(context.otherNames ?? [])]
    return refuse('ERROR', call.arguments, unknownTool(name, known))
  }

  const variables = toolVariables(tool, context.variables)
  const judged = judge(tool, call.arguments, { ...context, variables })
  if (judged.decision === 'refuse') return judged
  const { decision, args, bound, reasons } = judged
  const sandbox = bubblewrap(tool, variables, context)
  const isOutside = isServerCall(tool.expanded.command)
  const argv = isOutside ? bound.argv : [...(sandbox?.prefix ?? []), ...bound.argv]
  return {
    decision,
    tool,
    args,
    variables,
    argv,
    ...(sandbox && (isOutside ? { serverSandbox: sandbox } : { sandbox })),
    ...(bound.stdin !== undefined && { stdin: bound.stdin }),
    resolvedCommand: quoteCommand(argv),
    reasons,
  }
}

/**
 * Whether a person must approve this call before it runs: for a program that asks by itself. False for a call that runs
 * without, and for one that is refused in any case (bad arguments, a denied effect).
 *
 * @param args - As the model sent them: JSON text, or the value already parsed.
 * @param policy - From `parsePolicy`. Undefined: only imported tools are restricted.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: the policy was not read by `parsePolicy`.
 *
 * @example
 * if (needsApproval(tool, '{"file":"a.txt"}', policy)) await ask()
 */
export function needsApproval(tool: Tool, args: unknown, policy?: Policy | undefined): boolean {
  return judge(tool, args, { policy, variables: ANYWHERE }).decision === 'ask'
}

/** A decision does not depend on where the call runs. */
const ANYWHERE = { AGENT_HOME: '/', CWD: '/', TOOL_HOME: '/' }

type Bound = Extract<ReturnType<typeof bindArguments>, { ok: true }>
type Judged = RefusedCall | (Pick<RunnableCall, 'decision' | 'args' | 'reasons'> & { bound: Bound })

function judge(
  { expanded, settings }: Tool,
  sent: unknown,
  {
    policy,
    variables,
    matches = patternBudget()(),
  }: Pick<CallContext, 'policy' | 'matches'> & {
    variables: ToolVariables
  },
): Judged {
  const read = readArguments(sent)
  if (!read.ok) return refuse('ERROR', sent, badArguments(expanded, read.reason))
  const { args } = read

  const bound = bindArguments(expanded, args, { variables, matches })
  if (!bound.ok) {
    const advice = adviceOnDash(expanded, bound.reasons)
    const refused = refuse('ERROR', args, refusedArguments(expanded, bound.reasons))
    return advice === undefined ? refused : { ...refused, advice }
  }

  const effects = settings.effects && withAnswers(settings.effects, flagsOf(expanded, args))
  const { decision, reasons } = decide(effects, policy, {
    trust: settings.trust,
    tool: expanded.name,
  })
  if (decision === 'deny') return refuse('BLOCKED', args, blockedByPolicy(expanded, reasons))
  return { decision, args, bound, reasons }
}

/** The boolean options that a call gives. */
function flagsOf({ parameters }: ExpandedTool, args: Record<string, unknown>): string[] {
  return parameters.flatMap(({ name, type, option_name: flag }) =>
    type === 'boolean' && flag !== undefined && String(args[name]) === 'true' ? [flag] : [],
  )
}

/**
 * Whether a person may have to approve some call of this tool. Those that answer the command's questions beforehand
 * count, too.
 */
export function mayNeedApproval({ expanded, settings }: Tool, policy: Policy | undefined): boolean {
  const effects = settings.effects && withAnswers(settings.effects, flagNames(expanded))
  const options = { trust: settings.trust, tool: expanded.name }
  return [settings.effects, effects].some((each) => decide(each, policy, options).decision === 'ask')
}

function flagNames({ parameters }: ExpandedTool): string[] {
  return parameters.flatMap(({ option_name: flag }) => flag ?? [])
}

function refuse(status: RefusedCall['status'], args: unknown, observation: string): RefusedCall {
  return { decision: 'refuse', status, args, observation: showControls(observation) }
}

type ReadArguments = { ok: true; args: Record<string, unknown> } | { ok: false; reason: string }

/** Some models send nothing at all for a tool without parameters; that is an empty object. */
function readArguments(sent: unknown): ReadArguments {
  if (sent === undefined || (typeof sent === 'string' && sent.trim() === '')) return { ok: true, args: {} }
  if (typeof sent !== 'string') return asObject(sent)
  if (hasTooManyValues(sent)) return { ok: false, reason: `have more than ${MOST_VALUES} values` }
  try {
    return asObject(JSON.parse(sent))
  } catch (error) {
    return { ok: false, reason: `are not valid JSON (${(error as SyntaxError).message})` }
  }
}

function asObject(value: unknown): ReadArguments {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, reason: 'are not an object' }
  if (isTooDeep(value)) return { ok: false, reason: 'are nested too deeply' }
  return { ok: true, args: value as Record<string, unknown> }
}
