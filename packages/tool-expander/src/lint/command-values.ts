import { shapeOf } from '../command-words.js'
import { findProgramText } from '../program-text.js'
import { isEngineVariable, openings, textOf } from '../template.js'
import type { ExpandedTool } from '../tool.js'
import { findingAbout, type LintFinding } from './finding.js'
import { hintFor } from './program-words.js'

/** A hand-written `command:` whose values come behind it. */
export function commandValues(tool: ExpandedTool): LintFinding[] {
  if (tool.__meta !== undefined || tool.substitute) return []
  return [...literalPlaceholders(tool), ...joinedValues(tool)]
}

/** `[ls, '${directory}']`: without `substitute: true` that is text, and the value comes once more behind it. */
function literalPlaceholders({ command, parameters }: ExpandedTool): LintFinding[] {
  const names = new Set(parameters.map(({ name }) => name))
  return command.flatMap((element, index) => {
    const written = openings(element).find(
      ({ name = '', backslashes }) => names.has(name) && !isEngineVariable(name) && backslashes % 2 === 0,
    )
    if (written === undefined) return []
    const message = `\${${written.name}} is text here, and the value comes behind the command.`
    return [
      findingAbout(
        'literal-placeholder',
        `command[${index}]`,
        message,
        'Write substitute: true, or use exec:.',
      ),
    ]
  })
}

/** `[ssh, host, ls]`: what comes behind it is joined to a text for a shell. */
function joinedValues({ command, parameters }: ExpandedTool): LintFinding[] {
  const values = parameters.filter(({ inject_as: place }) => place === 'argument').map(() => '\0')
  const shapes = [...command.map((element) => shapeOf(textOf(element))), ...values]
  const text = findProgramText(shapes).find(([index, , isJoined]) => isJoined && index >= command.length)
  if (text === undefined) return []
  const [, runner] = text
  const message = `The values become part of a program for ${runner}.`
  return [findingAbout('value-in-program', 'command', message, hintFor(runner))]
}
