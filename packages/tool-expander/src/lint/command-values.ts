import { shapeOf } from '../command-words.js'
import { findProgramText } from '../program-text.js'
import { textOf } from '../template.js'
import type { ExpandedTool } from '../tool.js'
import { findingAbout, type LintFinding } from './finding.js'
import { namesByValues } from './harmless.js'
import { hintFor } from './runners.js'

/** `command: [ssh, host, ls]`: the values that come behind it are joined to a text for a shell. */
export function commandValues({
  command,
  parameters,
  substitute,
  __meta: origin,
}: ExpandedTool): LintFinding[] {
  if (origin !== undefined || substitute || namesByValues(parameters).withCode.size === 0) return []
  const values = parameters.filter(({ inject_as: place }) => place === 'argument').map(() => '\0')
  const shapes = [...command.map((element) => shapeOf(textOf(element))), ...values]
  const text = findProgramText(shapes).find(([index, , isJoined]) => isJoined && index >= command.length)
  if (text === undefined) return []
  const [, runner] = text
  const message = `The values become part of a program for ${runner}.`
  return [findingAbout('value-in-program', 'command', message, hintFor(runner))]
}
