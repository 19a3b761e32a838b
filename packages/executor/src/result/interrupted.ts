import { closeSync, constants, openSync } from 'node:fs'
import { type CapturedOutput, captureFile, nothingCaptured } from '../channels.js'
import { DEFAULT_SETTINGS, type ToolSettings } from '../settings.js'
import type { Tool } from '../tool/define-tool.js'
import { formatObservation } from './observation.js'
import { outputPaths, settleStream } from './stream-record.js'
import { keepBytes, type ResultContext, redactors, shownPath, type ToolResult } from './tool-result.js'

/**
 * The result of a call whose engine died while it ran: nobody knows its outcome, but what it had
 * printed is in the files `runPrepared` was given. End its processes (`endOrphans`) first.
 *
 * The files stay, so that a second crash loses nothing: see `removeInlined`.
 *
 * @param tool - Undefined when the agent no longer has it.
 * @param context.outputPrefix - The one the call was started with; missing files read as silence.
 * @param context.wasRunning - Something of it was still running, and has been ended.
 */
export function interruptedResult(
  tool: Tool | undefined,
  context: ResultContext & { outputPrefix: string; wasRunning?: boolean | undefined },
): ToolResult {
  const settings = tool?.settings ?? DEFAULT_SETTINGS
  const { known, shown } = redactors(settings, context)
  const { stdoutPath, stderrPath } = outputPaths(context.outputPrefix)
  const output = { stdout: readOutput(stdoutPath, settings), stderr: readOutput(stderrPath, settings) }
  const stdout = settleStream(output.stdout, known)
  const stderr = settleStream(output.stderr, known)
  const printed = stdout.bytes + stderr.bytes > 0 ? 'What it had printed follows' : 'No output of it is left'
  const ended = context.wasRunning ? ' It was still running and has been ended.' : ''
  const observation = formatObservation(
    `interrupted: the engine stopped while this command ran, so its outcome is unknown; it may have done all, part or none of its work.${ended} Check before running it again. ${printed}`,
    {
      stdout: { captured: output.stdout, ...shownPath(stdout, context) },
      stderr: { captured: output.stderr, ...shownPath(stderr, context) },
    },
    { ...settings.output, redact: shown.text },
  )
  return { status: 'INTERRUPTED', exitCode: null, signal: null, observation, durationMs: 0, stdout, stderr }
}

function readOutput(path: string, settings: ToolSettings): CapturedOutput {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // nobody writes into a pipe here
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return nothingCaptured()
    throw error
  }
  try {
    return captureFile(descriptor, { keepBytes: keepBytes(settings), keep: 'both', path })
  } finally {
    closeSync(descriptor)
  }
}
