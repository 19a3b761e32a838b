import type { ExpandedParameter } from '../tool.js'
import { wholePattern } from '../values.js'

/** Characters by which a text becomes more than a word somewhere: to a shell, `make`, `perl`, SQL. */
const MEANINGFUL = [...'$`\'"\\;|&<>(){}[]!/:% \n']

/** The parameters by what their values can be. */
export interface Names {
  /** Values that are not listed, and no numbers. */
  open: ReadonlySet<string>
  /** Of these, values that may hold code: a pattern that lets no meaningful character through lets no code through. */
  withCode: ReadonlySet<string>
}

export function namesByValues(parameters: readonly ExpandedParameter[]): Names {
  const open = parameters.filter((parameter) => !isChosen(parameter))
  const namesOf = (some: readonly ExpandedParameter[]) => new Set(some.map(({ name }) => name))
  return { open: namesOf(open), withCode: namesOf(open.filter(admitsCode)) }
}

/** True for a value that can only be what its author lists, or has no place for a command. */
function isChosen({ type, enum: values }: ExpandedParameter): boolean {
  return values !== undefined || type === 'integer' || type === 'number' || type === 'boolean'
}

function admitsCode({ pattern }: ExpandedParameter): boolean {
  if (pattern === undefined) return true
  const whole = new RegExp(wholePattern(pattern), 'u')
  return MEANINGFUL.some((character) =>
    AROUND.some(([before, behind]) => whole.test(before + character + behind)),
  )
}

const AROUND = [
  ['', ''],
  ['', 'a'],
  ['a', ''],
  ['a', 'a'],
  ['1', '1'],
] as const
