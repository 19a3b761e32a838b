import { ASSIGNMENT, TAKES_NAMES } from '../shell/rules.js'
import { matchAt } from '../template.js'
import { type Held, heldValues } from './held-values.js'
import { type Reading, readAsValues, type Stand } from './read-as-values.js'
import { type ScriptCommand, type ShellSource, shellSource } from './source.js'
import { holdsValue, standsOf } from './stands.js'

const NUMBER_HINT = (written: string) =>
  `Say type: integer of the parameter, or check it first: case "${written}" in *[!0-9]*) exit 1;; esac`
const TRAP_HINT = (written: string) =>
  `Write it in single quotes, so that it is an argument when the trap runs: trap 'rm -- "${written}"' EXIT`
const NAME_HINT = () =>
  'Write the name of a variable itself: a value may be one with a subscript, which is computed.'
const SPLIT_HINT = (written: string) => `Write "${written}": it can be several words, and options among them.`
const PROMPT_HINT = 'Write it without @P, which runs what stands in $( … ) there.'
const SCRIPT_HINT = (written: string) => `Hand it over as an argument: sh -c '… "$1"' _ "${written}"`

/** A script read as if the variables that hold values were these, and what it would then be refused for. */
export interface Followed {
  source: ShellSource
  refused: Refused[]
}

interface Refused {
  offset: number
  /** Where its command begins, if it is a simple one. */
  commandOffset: number | undefined
  message: string
  hint: string
}

/** Follows values into variables; undefined when no variable holds one. */
export function followValues(source: ShellSource, own?: Iterable<string>): Followed | undefined {
  const held = heldValues(source, own)
  const stands = standsOf(source, held)
  const indirect = indirectIn(source, held)
  if (stands.length === 0 && indirect.length === 0) return undefined
  const reading = readAsValues(source.template, stands)
  const read = sourceOfReading(source, reading)
  const commandOf = commandsByValue(read)
  const refused = reading.refused.flatMap((place) => {
    const command = commandOf.get(place.offset)
    return command && !place.isSplit && isHarmlessIn(command, place.offset)
      ? []
      : [refusal(place, command, command && reading.offsetBefore(command.offset))]
  })
  return {
    source: read,
    refused: [...refused, ...indirect.map((stand) => refusal({ stand, isNumber: true, isSplit: false }))],
  }
}

function refusal(
  { stand, isNumber, isSplit }: Omit<Reading['refused'][number], 'offset'>,
  command?: ScriptCommand,
  commandOffset?: number,
): Refused {
  const { written, offset, isComputed } = stand
  const variable = /^\w/.test(written) ? `$${written}` : written
  if (isSplit || written.endsWith('@P}')) {
    const message = `The shell ${isSplit ? 'splits' : 'runs'} ${variable} here, which holds a value.`
    return { offset, commandOffset, message, hint: isSplit ? SPLIT_HINT(variable) : PROMPT_HINT }
  }
  const [name = ''] = command?.shapes ?? []
  const isName = TAKES_NAMES.has(name) || /^(?:printf|test|\[)$/.test(name)
  const isComputedHere = isComputed || isNumber || isName
  const write = isName ? NAME_HINT : isComputedHere ? NUMBER_HINT : name === 'trap' ? TRAP_HINT : SCRIPT_HINT
  const verb = isComputedHere ? 'computes' : 'runs'
  const message = `The shell ${verb} ${variable} here, which holds a value.`
  return { offset, commandOffset, message, hint: write(variable) }
}

/** `${!x}`: the value is the name of a variable, and a subscript in it is computed. And `${x@P}`, which runs it. */
function indirectIn({ scan, template }: ShellSource, held: Held): Stand[] {
  return scan.expanded.flatMap(({ name, offset }) => {
    const [written, prompt] = matchAt(INDIRECT, template, offset) ?? []
    if (!written || !holdsValue(held, name, offset)) return []
    return [{ offset, length: written.length, written: prompt ? written : name, isComputed: true }]
  })
}

const INDIRECT = /\$\{(?:!\w+(?![\w*@])|\w+(@P)\})/y

function sourceOfReading(source: ShellSource, { template, scan, offsetBefore }: Reading): ShellSource {
  const parameters = [
    ...source.parameters,
    { name: '__held__', type: 'string', inject_as: 'argument', required: true } as const,
  ]
  return shellSource(template, scan, parameters, (rule, offset, message, hint) =>
    source.at(rule, offsetBefore(offset), message, hint),
  )
}

function commandsByValue({ commands }: ShellSource): Map<number, ScriptCommand> {
  const known = new Map<number, ScriptCommand>()
  for (const command of commands)
    for (const { found } of [...command.words, ...command.assignments])
      for (const { offset } of found) known.set(offset, command)
  return known
}

/** What is refused for a shell that few have: numbers in `[`, and what is assigned to no array. */
function isHarmlessIn({ shapes, words }: ScriptCommand, offset: number): boolean {
  const [name = ''] = shapes
  if (name === '[' || name === 'test') return !shapes.some((shape) => /^-[vR]$/.test(shape))
  const word = words.find(({ found }) => found.some((value) => value.offset === offset))
  const isArray = shapes.some((shape) => /^-\w*[aAin]/.test(shape))
  return TAKES_NAMES.has(name) && !isArray && ASSIGNMENT.test(word?.shape ?? '')
}
