import { RUN_LATER } from '../programs.js'
import { TAKES_NAMES } from '../shell/rules.js'
import type { ScriptCommand } from './source.js'

/** Builtins that put what they read into the variables they name. */
const READS_INTO = /^(?:read|readarray|mapfile)$/

/**
 * The variable a command sets to what the script does not spell out, if the shell runs its text: `read PS4`, `PS4=$x`.
 *
 * A value written there, `PS4=${x}`, is refused already.
 */
export function setsRunLater({ assignments, shapes }: ScriptCommand): string | undefined {
  const [name = '', ...operands] = shapes.slice(
    shapes.findIndex((word) => !/^(?:command|builtin)$/.test(word)),
  )
  const settings = [...assignments.map(({ shape }) => shape), ...(TAKES_NAMES.has(name) ? operands : [])]
  return [
    ...settings.filter((word) => word.includes('\0')),
    ...(READS_INTO.test(name) ? operands.map((word) => `${word}=`) : []),
    ...(name === 'printf' && operands.some((word) => word.includes('\0')) ? printedInto(operands) : []),
  ]
    .find((word) => RUN_LATER.test(word))
    ?.replace(/[[+=].*/s, '')
}

/** `printf -v NAME` and `printf -vNAME`. */
function printedInto([option = '', name = '']: readonly string[]): string[] {
  return option.startsWith('-v') ? [`${option.slice(2) || name}=`] : []
}
