import { type Context, createContext, runInContext } from 'node:vm'
import { nearestNames, showValue } from '@delta/settings'
import {
  type BindProblem,
  bindArguments,
  type ExpandedTool,
  type Matches,
  toJsonSchema,
} from '@delta/tool-expander'
import { withAnswers } from '@delta/tool-expander/internal'
import { absolute, type Variables } from './environment.js'
import { decide, type Policy } from './policy.js'
import { quoteCommand, showControls } from './quote.js'
import { sandboxPrefix } from './sandbox.js'
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
  variables: Variables
  /** The words in front of `argv` that make the sandbox; undefined without one. */
  sandbox?: string[]
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

  const variables = absolute(context.variables)
  const judged = judge(tool, call.arguments, { ...context, variables })
  if (judged.decision === 'refuse') return judged
  const { decision, args, bound, reasons } = judged
  const sandbox = sandboxPrefix(tool, variables, context)
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
const ANYWHERE = { AGENT_HOME: '/', CWD: '/' }

type Bound = Extract<ReturnType<typeof bindArguments>, { ok: true }>
type Judged = RefusedCall | (Pick<RunnableCall, 'decision' | 'args' | 'reasons'> & { bound: Bound })

function judge(
  { expanded, settings }: Tool,
  sent: unknown,
  { policy, variables, matches = limitedMatcher() }: Pick<CallContext, 'policy' | 'variables' | 'matches'>,
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

const MOST_NAMED = 50

function unknownTool(name: string, known: readonly string[]): string {
  const near = nearestNames(name, known)
  const lines = [`ERROR: there is no tool ${showValue(name)}. Nothing was run.`]
  if (near.length > 0) lines.push(`Did you mean ${near.map((each) => `"${each}"`).join(' or ')}?`)
  lines.push(known.length > 0 ? `The tools are: ${someOf(known)}.` : 'There are no tools.')
  return lines.join('\n')
}

/** The request lists all tools; an observation need not repeat thousands. */
function someOf(names: readonly string[]): string {
  if (names.length <= MOST_NAMED) return names.join(', ')
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`
}

function badArguments(tool: ExpandedTool, reason: string): string {
  return [
    `ERROR: the arguments of "${tool.name}" ${reason}. Nothing was run.`,
    `Send one JSON object. ${describeParameters(tool)}`,
  ].join('\n')
}

function refusedArguments(tool: ExpandedTool, problems: readonly BindProblem[]): string {
  return [
    `ERROR: the arguments of "${tool.name}" were not accepted. Nothing was run.`,
    ...problems.map(({ message }) => `- ${message}`),
    describeParameters(tool),
  ].join('\n')
}

function blockedByPolicy(tool: ExpandedTool, reasons: readonly string[]): string {
  return [
    `BLOCKED: the policy of this agent does not allow "${tool.name}": ${reasons.join(', ')}. Nothing was run.`,
    'Calling it again will not help; use another tool, or say what you would need.',
  ].join('\n')
}

/** What the author of a tool can change if the refused value was right. */
function adviceOnDash({ name }: ExpandedTool, problems: readonly BindProblem[]): string | undefined {
  const refused = problems.find(({ code }) => code === 'ERR_ARGUMENT_DASH')
  if (refused === undefined) return undefined
  return `${name}: a value of "${refused.parameter}" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.`
}

function describeParameters(tool: ExpandedTool): string {
  const { properties, required } = toJsonSchema(tool)
  const described = Object.entries(properties).map(([name, { type = 'any' }]) => {
    const types = [type].flat().join(' or ')
    return `${name} (${types}${required.includes(name) ? ', required' : ''})`
  })
  if (described.length === 0) return 'It takes no parameters: {}.'
  return `Its parameters: ${described.join(', ')}.`
}

/** How long the patterns of one answer may take. */
const LIMIT_MS = 1000

const NO_TIME_LEFT = `was not compared with its pattern: other values of this answer took the ${LIMIT_MS} ms there are. Send the call again`
const TOO_SLOW = `took longer than ${LIMIT_MS} ms to match its pattern. Send another value. The tool's author must write a pattern without a repeat inside a repeat`

/**
 * A matcher for each call of one answer, which spend at most 1,000 ms together. A pattern with a repeat inside a repeat can take
 * years, and the process handles no signal meanwhile.
 */
export function patternBudget(): PatternBudget {
  let leftMs = LIMIT_MS
  let globals: Context | undefined // a context takes a millisecond: it is made for the first pattern
  return () => {
    let isRefused = false
    return (expression, text) => {
      if (isRefused) return true // only the slow value is named
      isRefused = leftMs <= 0
      if (isRefused) return NO_TIME_LEFT
      globals ??= createContext({})
      const started = performance.now()
      const matched = testWithin(Math.ceil(leftMs), Object.assign(globals, { expression, text }))
      leftMs -= performance.now() - started
      isRefused = leftMs <= 0
      return isRefused ? TOO_SLOW : matched
    }
  }
}

/** Makes the matcher of each call. */
export type PatternBudget = () => Matches

/** A matcher for one call, or one text. */
export function limitedMatcher(): Matches {
  return patternBudget()()
}

/** Only a script of `node:vm` can be interrupted. */
function testWithin(timeout: number, globals: Context): boolean | string {
  try {
    return runInContext('expression.test(text)', globals, { timeout }) === true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return TOO_SLOW
  }
}

/** To parse more would stop the process for seconds. */
const MOST_VALUES = 2_000_000

/** Counts the characters of a JSON text that begin or part values, also those within strings. */
export function hasTooManyValues(json: string): boolean {
  if (json.length <= MOST_VALUES) return false
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === COMMA || code === BRACKET || code === BRACE) values++
  }
  return values > MOST_VALUES
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b]

const DEEPEST = 200

/**
 * Whether a value is nested too deeply for a journal: `JSON.parse` reads any depth, but `JSON.stringify` overflows the stack.
 *
 * @param levels - How many are allowed. Default 200, far from the end of the stack.
 */
export function isTooDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isTooDeep(part, levels - 1))
}
