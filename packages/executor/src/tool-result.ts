import { isUtf8 } from 'node:buffer'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { relative } from 'node:path'
import { removeFile } from '@delta/durable/internal'
import { type CapturedOutput, captureFile, nothingCaptured } from './channels.js'
import { type Credentials, secretValues } from './credentials.js'
import { fit, joined, readEnds, wholeText } from './fit-output.js'
import {
  contentBytes,
  contentOf,
  describeParts,
  isMcpResult,
  limited,
  type ToolPart,
} from './output-parts.js'
import type { Policy } from './policy.js'
import { showControls } from './quote.js'
import { createRedactor, type Redactor, redactFile } from './redact.js'
import { BY_STDIN, type CommandOutcome } from './run-command.js'
import { isAgentTool, type Tool } from './tool.js'
import { DEFAULT_SETTINGS, type ToolSettings } from './tool-settings.js'

/**
 * `FAILED`: another exit code than 0, a signal, or too much output. `ERROR`: could not be run as asked. `BLOCKED`: not allowed.
 * `INTERRUPTED`: stopped by the caller's signal, or its engine died.
 */
export type ToolStatus = 'SUCCESS' | 'FAILED' | 'ERROR' | 'TIMEOUT' | 'BLOCKED' | 'INTERRUPTED'

/** The result of a call: for the model, and for the record. */
export interface ToolResult {
  status: ToolStatus
  /** Null when a signal ended the command, or nothing was run. */
  exitCode: number | null
  /** The signal that ended the command; else null. */
  signal: string | null
  /** What the model reads. Of `parts`, the text, and a line where an image or file stands. */
  observation: string
  /** What the model gets in place of the observation, where stdout held an image or file. See the tool's `output.as`. */
  parts?: ToolPart[]
  /** How long the command ran; 0 for a call that was not run. */
  durationMs: number
  stdout: StreamRecord
  stderr: StreamRecord
  /** What the tool's author can change, if that is why the command did not start. The same for each such call. */
  advice?: string
}

/** Where a call runs, and which secrets its output must not show. */
export interface ResultContext {
  /** The workspace: where commands run, and what relative paths start at. */
  cwd: string
  /** `executeTool` asks it whether the call may run; a result only uses its `redact`. */
  policy?: Policy | undefined
  /** The engine's credentials, besides those in `env`: only for a tool that lists them, and every key redacted. */
  credentials?: Credentials | undefined
  /** Values a person entrusted to the run. While there are any, no output touches the disk unredacted. */
  secrets?: readonly string[] | undefined
  /** Such values by their tokens (`«secret:1-0»`): put into argv and stdin when the command starts. */
  secretTokens?: Readonly<Record<string, string>> | undefined
}

/** Room for a secret that a cut would part, so that it is redacted before the cut is made. */
const SECRET_MARGIN_BYTES = 32 * 1024
const MOST_BYTES_PER_CHAR = 3
const WAITING_FOR_INPUT = 101

/** How much of a stream must be in memory to make the tool's observation and parts. */
export function keepBytes({ output }: ToolSettings): number {
  return Math.max(contentBytes(output), 2 * (output.maxChars * MOST_BYTES_PER_CHAR + SECRET_MARGIN_BYTES))
}

/** The result of a call whose command never started. */
export function notRun(status: 'ERROR' | 'BLOCKED' | 'INTERRUPTED', observation: string): ToolResult {
  const nothing = { bytes: 0, text: '' }
  const ending = { exitCode: null, signal: null, durationMs: 0, stdout: nothing, stderr: nothing }
  return { status, observation, ...ending }
}

/** Turns the outcome of a command into what the model reads and what the record keeps. */
export function toResult(outcome: CommandOutcome, tool: Tool, context: ResultContext): ToolResult {
  if (outcome.startError) {
    const why = showControls(redactors(tool.settings, context).shown.text(outcome.startError.message))
    const result = notRun('ERROR', `ERROR: the command did not start. ${why}`)
    if (outcome.startError.code !== 'TOO_LARGE') return result
    const { name } = tool.expanded
    return { ...result, advice: `${name}: its arguments are longer than the system passes. ${BY_STDIN}` }
  }
  const { exitCode, signal, durationMs } = outcome
  const status = toolStatus(outcome)
  const isReported = exitCode === 1 && tool.settings.output.as === 'mcp' && isMcpResult(outcome.stdout)
  const settled = status === 'SUCCESS' || isReported ? settleContent : settle
  const printed = settled(describeEnding(outcome, tool), outcome, tool.settings, context)
  return { status, exitCode, signal, durationMs, ...printed, ...(isReported && { status }) }
}

/**
 * The result of a call whose engine died while it ran: its outcome is unknown, and its output is in the files that
 * `runPrepared` was given. End its processes (`endOrphans`) first.
 *
 * The files stay, so that a second crash loses nothing: see `removeInlined`.
 *
 * @param tool - Undefined when the agent no longer has it.
 * @param context.outputPrefix - The one the call was started with; a missing file means no output.
 * @param context.wasRunning - A process of the call was still running, and has been ended.
 */
export function interruptedResult(
  tool: Tool | undefined,
  context: ResultContext & { outputPrefix: string; wasRunning?: boolean | undefined },
): ToolResult {
  const settings = tool?.settings ?? DEFAULT_SETTINGS
  const { stdoutPath, stderrPath } = outputPaths(context.outputPrefix)
  const output = { stdout: readOutput(stdoutPath, settings), stderr: readOutput(stderrPath, settings) }
  const isSilent = output.stdout.bytes + output.stderr.bytes === 0
  const ended = context.wasRunning ? ' It was still running and has been ended.' : ''
  const what = `interrupted: the engine stopped while this command ran, so its outcome is unknown; it may have done all, part or none of its work.${ended} Check before running it again.`
  const ending = `${what} ${isSilent ? 'No output of it is left' : 'What it had printed follows'}`
  const printed = settle(ending, output, settings, context)
  return { status: 'INTERRUPTED', exitCode: null, signal: null, durationMs: 0, ...printed }
}

function readOutput(path: string, settings: ToolSettings): CapturedOutput {
  if (!existsSync(path)) return nothingCaptured()
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // a command may have put a pipe here
  try {
    return captureFile(descriptor, { keepBytes: keepBytes(settings), keep: 'both', path })
  } finally {
    closeSync(descriptor)
  }
}

/**
 * What the record keeps of both streams, and the text a model reads.
 *
 * A plain success (no ending, nothing on stderr, nothing cut) is its stdout and nothing else. Otherwise: the ending in square
 * brackets on the first line, stdout, and stderr behind a line `[stderr]`. Both share `maxChars`; stderr gets what stdout
 * leaves, and at least a third. A stream is redacted as a whole before it is cut.
 *
 * @param ending - How the command ended, without brackets: `exit code 2`.
 */
function settle(
  ending: string | undefined,
  output: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  settings: ToolSettings,
  context: ResultContext,
): Printed {
  const { maxChars, keep } = settings.output
  const { show, stdout, stderr } = settleStreams(output, settings, context)
  const out = readEnds(output.stdout, show, shownPath(stdout, context))
  const error = readEnds(output.stderr, show, shownPath(stderr, context))
  const errorChars = Math.min(error.chars, Math.max(Math.floor(maxChars / 3), maxChars - out.chars))
  const complaint = fit(error, errorChars, keep)
  const observation = joined([
    ending && `[${ending}]\n`,
    fit(out, maxChars - errorChars, keep),
    complaint && `[stderr]\n${complaint}`,
  ])
  return { observation, stdout, stderr }
}

/** The same for a command that succeeded, and whose stdout may hold images and files. A file that is text is redacted, other bytes are not. */
function settleContent(
  ending: string | undefined,
  output: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  settings: ToolSettings,
  context: ResultContext,
): Printed & { status?: ToolStatus } {
  if (settings.output.as === 'text') return settle(ending, output, settings, context)
  const { maxChars, keep } = settings.output
  const { show, redact, stdout, stderr } = settleStreams(output, settings, context)
  const path = shownPath(stdout, context)
  const keptIn = path === undefined ? '' : `; kept in ${path}`
  const content = contentOf(output.stdout, { output: settings.output, show, redact, keptIn })
  if (content === undefined) return settle(ending, output, settings, context)

  const complaint = fit(readEnds(output.stderr, show, shownPath(stderr, context)), maxChars / 3, keep)
  const around = [ending && `[${ending}]\n`, complaint && `[stderr]\n${complaint}`]
  const [before = [], after = []] = around.map((text) => (text ? [{ type: 'text' as const, text }] : []))
  let budget = maxChars
  const parts = limited([...before, ...content.parts, ...after], keptIn).map((part) => {
    if (part.type !== 'text') return part
    const text = fit(wholeText(part.text, path), budget, keep)
    budget = Math.max(0, budget - text.length)
    return { ...part, text }
  })
  const hasMedia = parts.some(({ type }) => type !== 'text')
  return {
    status: content.status,
    observation: describeParts(parts),
    ...(hasMedia && { parts }),
    stdout,
    stderr,
  }
}

type Printed = Pick<ToolResult, 'observation' | 'parts' | 'stdout' | 'stderr'>

/** What the record keeps of both streams; `show` writes a text of theirs for the model. */
function settleStreams(
  output: Pick<CommandOutcome, 'stdout' | 'stderr'>,
  settings: ToolSettings,
  context: ResultContext,
) {
  const { known, shown } = redactors(settings, context)
  return {
    redact: shown.text,
    show: (text: string) => showControls(shown.text(text)),
    stdout: settleStream(output.stdout, known),
    stderr: settleStream(output.stderr, known),
  }
}

/** `known` replaces secrets by value, for records; `shown` also what looks like one, where the policy says so. */
export function redactors(
  { trust }: ToolSettings,
  context: ResultContext,
): { known: Redactor; shown: Redactor } {
  const { secrets = [], secretTokens = {}, credentials, policy } = context
  const values = [...secrets, ...Object.values(secretTokens), ...secretValues(credentials)]
  const imported = trust !== undefined
  const patterns = (policy?.redact ?? (imported ? 'patterns' : 'declared')) === 'patterns'
  const known = createRedactor(values)
  return { known, shown: patterns ? createRedactor(values, { patterns }) : known }
}

/** A path as the model can use it: relative to where its commands run. */
function shownPath({ path }: StreamRecord, { cwd }: ResultContext): string | undefined {
  const inside = path && relative(cwd, path)
  return inside?.startsWith('..') ? path : inside
}

function toolStatus({ status, exitCode }: CommandOutcome): ToolStatus {
  if (status === 'TIMEOUT') return 'TIMEOUT'
  if (status === 'ABORTED') return 'INTERRUPTED'
  return status === 'EXITED' && exitCode === 0 ? 'SUCCESS' : 'FAILED'
}

/** Undefined for a plain success. */
function describeEnding(outcome: CommandOutcome, tool: Tool): string | undefined {
  const lost = outcome.diskFull ? 'the disk is full: what it printed may be lost in part' : undefined
  return [howItEnded(outcome, tool), lost].filter((part) => part !== undefined).join('; ') || undefined
}

function howItEnded(outcome: CommandOutcome, tool: Tool): string | undefined {
  const { status, exitCode, signal, durationMs } = outcome
  const after = `after ${(durationMs / 1000).toFixed(1)} s`
  // the limit, not the time that passed, which includes the grace
  if (status === 'TIMEOUT')
    return `timed out after ${tool.settings.timeoutMs} ms (timeout_ms); its process group was ended`
  if (status === 'ABORTED')
    return `interrupted ${after}; the command was ended and may have done its work in part`
  if (status === 'TOO_MUCH_OUTPUT')
    return `printed more than ${tool.settings.output.maxBytes} bytes (output.max_bytes); its process group was ended`
  if (status === 'SIGNALED') return `killed by ${signal}`
  if (exitCode === WAITING_FOR_INPUT && isAgentTool(tool))
    return 'exit code 101: this agent waits for a person to answer'
  return exitCode === 0 ? undefined : `exit code ${exitCode}`
}

/** The record of one stream: small text here, everything else in a file. */
export interface StreamRecord {
  /** All that was written. */
  bytes: number
  /** The file with every byte, when the output was large or is not UTF-8. */
  path?: string
  /** The whole output, when it is small text. */
  text?: string
}

/** Larger outputs stay in their file. */
const INLINE_BYTES = 32 * 1024

/**
 * Decides what a record holds of one stream: its text when that is small, else the file.
 * Known secrets are redacted in both. The file of a small text stays until `removeInlined`.
 */
function settleStream(captured: CapturedOutput, known: Redactor): StreamRecord {
  const { bytes, head, path } = captured
  if (bytes <= INLINE_BYTES && isUtf8(head)) return { bytes, text: known.text(captured.text) }
  if (path === undefined) return { bytes }
  if (known.active) redactFile(path, known)
  return { bytes, path }
}

/** Removes the output files of a call whose text the result holds; call it once the result is safe on disk. */
export function removeInlined(
  outputPrefix: string,
  { stdout, stderr }: { stdout: StreamRecord; stderr: StreamRecord },
): void {
  const { stdoutPath, stderrPath } = outputPaths(outputPrefix)
  if (stdout.path === undefined) removeFile(stdoutPath)
  if (stderr.path === undefined) removeFile(stderrPath)
}

/** Where a call's output goes while it runs, and stays when it is large or binary. */
export function outputPaths(prefix: string): { stdoutPath: string; stderrPath: string } {
  return { stdoutPath: `${prefix}.stdout`, stderrPath: `${prefix}.stderr` }
}
