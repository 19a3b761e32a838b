import { bindArguments } from '@delta/tool-expander'
import { isTooDeep } from '../depth.js'
import { limitedMatcher } from '../limited-matcher.js'
import type { Policy } from '../policy.js'
import { decide } from '../policy.js'
import { quoteCommand, showControls } from '../quote.js'
import type { Tool } from '../tool/define-tool.js'
import { absolute } from '../tool/variables.js'
import { adviceOnDash, badArguments, blockedByPolicy, refusedArguments, unknownTool } from './refusals.js'
import { sandboxPrefix } from './sandbox.js'

/** A call as a model sends it: the arguments are JSON text, or the value already parsed. */
export interface ToolCall {
  /** As the model wrote it; it may be that of no tool. */
  name: string
  arguments: unknown
}

/** What a call is judged and bound by. */
export interface CallContext {
  /** What `${AGENT_HOME}` and `${CWD}` stand for: absolute directories. */
  variables: { AGENT_HOME: string; CWD: string }
  /** Absolute path of the workspace. */
  workDirectory: string
  /** Where runs are kept outside the workspace: hidden in a sandbox, as every `.delta` is. */
  runsDirectory?: string | undefined
  /** Absent: every effect of the author's own tools is allowed; see `decide`. */
  policy?: Policy | undefined
  /** What the caller offers besides the tools and runs itself; named to a model that calls what is not there. */
  otherNames?: readonly string[] | undefined
}

/** A call that will not run. */
export interface RefusedCall {
  /** Tells it from a `RunnableCall`. */
  decision: 'refuse'
  /** `BLOCKED`: by the policy. `ERROR`: there is no such tool, or its arguments do not fit. */
  status: 'ERROR' | 'BLOCKED'
  /** What was sent: parsed, or the raw text when it is no JSON object. */
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
  /** By the names of the parameters, as they were sent. */
  args: Record<string, unknown>
  /** What `argv` was bound with. */
  variables: { AGENT_HOME: string; CWD: string }
  /** The words in front of `argv` that make the sandbox; undefined without one. */
  sandbox?: string[]
  /** What will be started, sandbox included. */
  argv: string[]
  /** Absent: end of file at once. */
  stdin?: string
  /** `argv` as a line for a shell. */
  resolvedCommand: string
  /** Why to ask. */
  reasons: string[]
}

/** What becomes of a call, told apart by `decision`. */
export type PreparedCall = RefusedCall | RunnableCall

/**
 * Everything before a command starts: look up, read the arguments, ask the policy, bind.
 * Pure but for looking at which directories a sandbox must hide. Whatever a model sends
 * has an answer; only a policy that `parsePolicy` has not read is thrown, as `ERR_EXECUTOR_USAGE`.
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

  const judged = judge(tool, call.arguments, context)
  if (judged.decision === 'refuse') return judged
  const { decision, args, bound, reasons } = judged
  const variables = absolute(context.variables)
  const sandbox = sandboxPrefix(tool, context.variables, context.runsDirectory)
  const argv = sandbox ? [...sandbox, ...bound.argv] : bound.argv
  return {
    decision,
    tool,
    args,
    variables,
    argv,
    ...(sandbox && { sandbox }),
    ...(bound.stdin !== undefined && { stdin: bound.stdin }),
    resolvedCommand: quoteCommand(argv),
    reasons,
  }
}

/**
 * Whether a person must approve this call before it runs: for frameworks that ask by themselves.
 * False for a call that may run at once, and for one that will be refused whatever a person says.
 *
 * @param args - As the model sent them: JSON text, or the value already parsed.
 * @param policy - Undefined: as in `prepareCall`, only imported tools are restricted.
 */
export function needsApproval(tool: Tool, args: unknown, policy?: Policy | undefined): boolean {
  return judge(tool, args, { policy, variables: ANYWHERE }).decision === 'ask'
}

/** A decision does not depend on where the call runs. */
const ANYWHERE = { AGENT_HOME: '/', CWD: '/' }

type Bound = Extract<ReturnType<typeof bindArguments>, { ok: true }>
type Judged = RefusedCall | (Pick<RunnableCall, 'decision' | 'args' | 'reasons'> & { bound: Bound })

function judge(
  { expanded, settings }: Tool,
  sent: unknown,
  { policy, variables }: Pick<CallContext, 'policy' | 'variables'>,
): Judged {
  const read = readArguments(sent)
  if (!read.ok) return refuse('ERROR', sent, badArguments(expanded, read.reason))
  const { args } = read

  const bound = bindArguments(expanded, args, { variables: absolute(variables), matches: limitedMatcher() })
  if (!bound.ok) {
    const advice = adviceOnDash(expanded, bound.reasons)
    const refused = refuse('ERROR', args, refusedArguments(expanded, bound.reasons))
    return advice === undefined ? refused : { ...refused, advice }
  }

  const { decision, reasons } = decide(settings.effects, policy, {
    trust: settings.trust,
    tool: expanded.name,
  })
  if (decision === 'deny') return refuse('BLOCKED', args, blockedByPolicy(expanded, reasons))
  return { decision, args, bound, reasons }
}

function refuse(status: RefusedCall['status'], args: unknown, observation: string): RefusedCall {
  return { decision: 'refuse', status, args, observation: showControls(observation) }
}

type ReadArguments = { ok: true; args: Record<string, unknown> } | { ok: false; reason: string }

/** Some models send nothing at all for a tool without parameters; that is an empty object. */
function readArguments(sent: unknown): ReadArguments {
  if (sent === undefined || (typeof sent === 'string' && sent.trim() === '')) return { ok: true, args: {} }
  if (typeof sent !== 'string') return asObject(sent)
  try {
    return asObject(JSON.parse(sent))
  } catch (error) {
    return { ok: false, reason: `are not valid JSON (${(error as SyntaxError).message})` }
  }
}

function asObject(value: unknown): ReadArguments {
  if (value === null) return { ok: false, reason: 'are null' }
  if (Array.isArray(value)) return { ok: false, reason: 'are an array' }
  if (typeof value !== 'object') return { ok: false, reason: `are a ${typeof value}` }
  if (isTooDeep(value)) return { ok: false, reason: 'are nested too deeply' }
  return { ok: true, args: value as Record<string, unknown> }
}
