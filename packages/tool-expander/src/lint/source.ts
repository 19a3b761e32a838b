import { compileExec } from '../exec.js'
import type { ArgumentWord, Inferred } from '../inferred.js'
import { findProgramText, type ProgramText } from '../program-text.js'
import { compileShell } from '../shell/compile.js'
import type { Scan, ScannedCommand } from '../shell/scan.js'
import type { ExpandedParameter, ExpandedTool } from '../tool.js'
import { type FindingAt, findingsIn } from './finding.js'
import { type Names, namesByValues } from './harmless.js'

/** What the author of a tool wrote, compiled once for all rules. */
export type Source = ExecSource | ShellSource

interface Compiled {
  template: string
  parameters: readonly ExpandedParameter[]
  /** What the template alone says about the parameters. */
  inferred: readonly Inferred[]
  names: Names
  at: FindingAt
}

export interface ExecSource extends Compiled {
  syntax: 'exec'
  words: readonly ArgumentWord[]
}

export interface ShellSource extends Compiled {
  syntax: 'shell'
  scan: Scan
  commands: readonly ScriptCommand[]
}

/** A simple command of a script. */
export interface ScriptCommand extends ScannedCommand {
  offset: number
  /** Its words, as `shapeOf` gives them. */
  shapes: readonly string[]
  /** The words of it that an interpreter runs. */
  texts: readonly ProgramText[]
}

/** Undefined for a hand-written `command:`. */
export function sourceOf({ __meta: origin, parameters }: ExpandedTool): Source | undefined {
  if (origin === undefined) return undefined
  const { syntax, template, stdin } = origin
  const common = { template, parameters, names: namesByValues(parameters), at: findingsIn(origin) }
  if (syntax === 'exec') {
    const { words, inferred } = compileExec(template, parameters, stdin)
    return { syntax, ...common, words, inferred }
  }
  const { scan, inferred } = compileShell(template, parameters, stdin)
  return { ...shellSource(template, scan, parameters, common.at), inferred }
}

/** A script that was compiled. */
export function shellSource(
  template: string,
  scan: Scan,
  parameters: readonly ExpandedParameter[],
  at: FindingAt,
): ShellSource {
  const names = namesByValues(parameters)
  const commands = scan.commands.map(commandOf)
  return { syntax: 'shell', template, parameters, names, inferred: [], at, scan, commands }
}

function commandOf(command: ScannedCommand): ScriptCommand {
  const { assignments, words } = command
  const shapes = words.map(({ shape }) => shape)
  const offset = (assignments[0] ?? words[0])?.offset ?? 0
  return { ...command, offset, shapes, texts: findProgramText(shapes) }
}
