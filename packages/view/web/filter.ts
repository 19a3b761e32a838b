/** What the filter box looks at in a row. Fields may be missing: then no condition on them holds. */
export interface Filtered {
  /** All that words are looked for in. */
  text: string
  fields: Record<string, string | number | readonly string[] | null | undefined>
}

/** The fields that the box knows; `word:value` with another word is looked for as it stands. */
const FILTER_FIELDS = [
  'status',
  'reason',
  'model',
  'agent',
  'tool',
  'workspace',
  'cost',
  'steps',
  'tokens',
  'evaluation',
  'variant',
  'task',
  'state',
  'score',
] as const

type Test = (row: Filtered) => boolean

/**
 * Compiles what stands in the filter box: words, and conditions such as `status:failed model:gpt* cost:>0.1`. All must hold. `-` before
 * one turns it round, quotes keep blanks together, `a,b` is one of both. Words and values ignore case.
 */
export function compileFilter(query: string): Test {
  const tests = [...query.matchAll(/(-?)((?:[a-z]+:)?(?:"[^"]*"?|\S)+)/gi)].map(([, not, word]) => {
    const test = testOf((word as string).replaceAll('"', ''))
    return not ? (row: Filtered) => !test(row) : test
  })
  return (row) => tests.every((test) => test(row))
}

function testOf(word: string): Test {
  const [, field = '', value = ''] = /^([a-z]+):(.*)$/is.exec(word) ?? []
  const known = FILTER_FIELDS.find((each) => each === field.toLowerCase())
  if (known === undefined) return ({ text }) => text.toLowerCase().includes(word.toLowerCase())
  if (value === '') return () => true // it is still being typed
  const holds = conditionOf(value)
  return ({ fields }) =>
    [fields[known]].flat().some((each) => each !== null && each !== undefined && holds(each))
}

function conditionOf(value: string): (found: string | number) => boolean {
  const [, sign, amount] = /^(>=|<=|>|<|=)\$?(\d*\.?\d+)$/.exec(value) ?? []
  if (sign !== undefined) {
    const bound = Number(amount)
    return (found) => compare(Number(found), sign, bound)
  }
  const patterns = value.split(',').filter(Boolean).map(patternOf)
  return (found) => patterns.some((pattern) => pattern.test(String(found)))
}

function compare(found: number, sign: string, bound: number): boolean {
  if (sign === '>') return found > bound
  if (sign === '<') return found < bound
  if (sign === '>=') return found >= bound
  return sign === '<=' ? found <= bound : found === bound
}

/** The whole value, `*` for any characters. */
function patternOf(glob: string): RegExp {
  const source = glob.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${source.join('.*')}$`, 'is')
}
