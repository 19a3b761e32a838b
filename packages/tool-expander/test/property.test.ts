import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bindArguments, type ExpandedTool } from '../src/index.js'
import { load, SHELLS, variables } from './helper.js'

const MARKS = '" \' ` \\ $ ${ } $( ) $(( ; | & < > * ? ['.split(' ')
const WORDS = '${CWD} ${p0} $1 "$1" - -- -e # ! ~ %s \\n EOF <<EOF a[$(x)]'.split(' ')

/** Any text an argument can carry, with a taste for what shells and templates care about. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(...MARKS, '\n', ' ', '\t'),
      fc.constantFrom(...WORDS, '\nEOF\n'),
    ),
    { maxLength: 6 },
  )
  .map((pieces) => pieces.join('').replaceAll('\0', ''))

/** Runs one process and gives its standard output, byte for byte. */
async function output(argv: readonly string[], stdin = ''): Promise<string> {
  const [program = '', ...rest] = argv
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => undefined) // a program that does not read its input is fine
  child.stdin.end(stdin)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [exitCode] = await once(child, 'close')
  expect(exitCode).toBe(0)
  return Buffer.concat(chunks).toString()
}

const PER_PROCESS = 100

/** How often values are tried that cost no process; what costs one is tried less often, in proportion. */
const RUNS = Number(process.env.RUNS ?? (process.env.DELTA_TESTS === 'real' ? 20_000 : 1_200))
const BATCHES = Math.ceil(RUNS / 667)
const JSON_RUNS = Math.ceil((RUNS * 3) / 20)
const DASH_RUNS = Math.ceil(RUNS / 80)

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`)
}

function bound(tool: ExpandedTool, values: readonly string[]): string[] {
  const args = Object.fromEntries(values.map((value, index) => [`p${index}`, value]))
  const result = bindArguments(tool, args, { variables })
  if (!result.ok) throw new Error(JSON.stringify(result.reasons))
  return result.argv
}

/** A command with the placeholders of all values, each in the same place. */
function each(place: (placeholder: string) => string, separator = ' '): string {
  return names(PER_PROCESS)
    .map((name) => place(`\${${name}}`))
    .join(separator)
}

/** Each prints every value once, with something fixed around it. */
const PLACES: { title: string; tool: object; around: (value: string) => string }[] = [
  {
    title: 'as a word of exec:',
    tool: { exec: `printf '%s\\0' ${each((p) => p)}` },
    around: (value) => `${value}\0`,
  },
  {
    title: 'inside a word of exec:',
    tool: { exec: `printf '%s\\0' ${each((p) => `"a b"${p}'${p}'c`)}` },
    around: (value) => `a b${value}${value}c\0`,
  },
  {
    title: 'unquoted in shell:',
    tool: { shell: `printf '%s\\0' ${each((p) => p)}` },
    around: (value) => `${value}\0`,
  },
  {
    title: 'in double quotes',
    tool: { shell: `printf '%s\\0' ${each((p) => `"a ${p}0"`)}` },
    around: (value) => `a ${value}0\0`,
  },
  {
    title: 'in single quotes',
    tool: { shell: `printf '%s\\0' ${each((p) => `'a "${p}$'`)}` },
    around: (value) => `a "${value}$\0`,
  },
  {
    title: 'in a here-document',
    tool: { shell: `cat <<EOF\n${each((p) => `"${p}"`, '\n')}\nEOF\n` },
    around: (value) => `"${value}"\n`,
  },
  {
    title: 'inside $( ) and the default of an expansion',
    tool: {
      shell: `printf '%s\\0' ${each((p) => `"$(printf '%s.' \${x:-${p}} "\${x:-${p}}")"`)}`,
    },
    around: (value) => `${value}.${value}.\0`,
  },
]

describe('any value arrives byte for byte through a real process', () => {
  // 7 places, 100 values per process
  for (const { title, tool, around } of PLACES) {
    test(`${title}: ${BATCHES * PER_PROCESS} values`, async () => {
      const expanded = load({ ...tool, allow_dash: true })
      const values = fc.sample(hostile, { numRuns: BATCHES * PER_PROCESS, seed: 1 })
      for (let start = 0; start < values.length; start += PER_PROCESS) {
        const batch = values.slice(start, start + PER_PROCESS)
        const [program = '', ...rest] = bound(expanded, batch)
        const shell = SHELLS[(start / PER_PROCESS) % SHELLS.length] ?? 'sh'
        const printed = await output([program === 'sh' ? shell : program, ...rest])
        expect(printed).toBe(batch.map(around).join(''))
      }
    })
  }
})

/** Any JSON value that is a number exactly, with a taste for what shells and templates care about. */
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown),
    hostile,
    fc.constantFrom(
      '\0',
      '«secret:1-0»',
      '\u2028',
      '\ud83d\ude00',
      null,
      true,
      0,
      -1.5,
      2 ** 53 - 1,
      '',
      {},
      [],
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(hostile, fc.constantFrom('__proto__', 'constructor', '1')), tie('value'), {
      maxKeys: 4,
    }),
  ),
})).value

describe('any JSON value arrives byte for byte on the standard input', () => {
  const sent = (value: unknown): boolean => {
    if (typeof value === 'number') return Math.abs(value) < 2 ** 53
    if (typeof value === 'string') return value.isWellFormed()
    return typeof value !== 'object' || value === null || Object.values(value).every(sent)
  }
  const PLACES = [
    { title: 'of a program', tool: { exec: 'cat' } },
    { title: 'of a script', tool: { shell: 'cat | cat' } },
    { title: 'of a hand-written command', tool: { command: ['cat', '-'] } },
    { title: 'checked by a schema', tool: { exec: 'cat', input_schema: { type: 'object' } } },
  ]
  for (const { title, tool } of PLACES) {
    test(`${title}: ${JSON_RUNS} values`, async () => {
      const parameters = [{ name: 'v', type: 'array', items: {} }]
      const definition = { ...tool, stdin: 'json', ...('input_schema' in tool ? {} : { parameters }) }
      const values = fc.sample(anyJson.filter(sent), { numRuns: JSON_RUNS, seed: 3 })
      for (const [index, shell] of SHELLS.entries()) {
        const batch = values.filter((_, at) => at % SHELLS.length === index)
        const result = bindArguments(load(definition), { v: batch }, { variables })
        if (!result.ok) throw new Error(JSON.stringify(result.reasons))
        const [program = '', ...rest] = result.argv
        const printed = await output([program === 'sh' ? shell : program, ...rest], result.stdin)
        expect(printed).toBe(JSON.stringify({ v: batch }))
      }
    })
  }

  test('and as an argument of exec:, 1,000 objects', async () => {
    const tool = load({
      exec: "printf '%s\\0' ${v}",
      parameters: [{ name: 'v', type: 'array', items: { type: 'object' } }],
    })
    const objects = fc.sample(anyJson.filter(sent), { numRuns: 1_000, seed: 4 }).map((value) => ({ value }))
    const result = bindArguments(tool, { v: objects }, { variables })
    if (!result.ok) throw new Error(JSON.stringify(result.reasons))
    expect(await output(result.argv)).toBe(objects.map((each) => `${JSON.stringify(each)}\0`).join(''))
  })
})

test(`${RUNS} times, a value changes only the argument it belongs to`, () => {
  const tools = [
    { exec: 'x ${a} ${b} -- ${c}' },
    { exec: 'x ${a} y${b}z --c=${c} ${AGENT_HOME}/${a} "d e"' },
    { shell: 'x ${a} "${b}" <<E | y ${c:raw}\n${a}\nE' },
    { shell: 'x ${a} \'${b}\' "$(y ${c} ${CWD})"' },
  ].map((definition) => load({ ...definition, allow_dash: true }))

  fc.assert(
    fc.property(fc.nat(tools.length - 1), hostile, hostile, (index, before, after) => {
      const tool = tools[index] as ExpandedTool
      const argv = (b: string) => {
        const result = bindArguments(tool, { a: 'A', b, c: 'C' }, { variables })
        if (!result.ok) throw new Error(JSON.stringify(result.reasons))
        return result.argv
      }
      const [first, second] = [argv(before), argv(after)]
      expect(second).toHaveLength(first.length)
      const changed = first.filter((word, at) => word !== second[at])
      expect(changed.length).toBe(before === after ? 0 : 1)
      expect(second.filter((word, at) => word !== first[at])).toEqual(
        before === after ? [] : [index === 1 ? `y${after}z` : after],
      )
    }),
    { numRuns: RUNS, seed: 2 },
  )
})

describe('no value makes a finished word begin with a dash', () => {
  const WORDS =
    '${p0}|${p0}.txt|"${p0}${p1}"|${p0}x${p1}|"$EMPTY"${p0}|${EMPTY:-}${p1}|x${p0}|-- ${p0}'.split('|')
  const dashes = fc.oneof(
    fc.constantFrom('', '-', '--', '-5', '-5.5', '-x', '- x', '5', 'x', '-.', '-5x', '\n', '-\n'),
    hostile,
  )

  for (const word of WORDS) {
    test(`shell: ${word}`, async () => {
      const checked = load({ shell: `printf '%s\\0' ${word}`, parameters: [] })
      const unchecked = load({ shell: `printf '%s\\0' ${word}`, allow_dash: true })
      const count = checked.parameters.length
      const samples = fc.sample(fc.array(dashes, { minLength: count, maxLength: count }), {
        numRuns: DASH_RUNS,
        seed: 5,
      })
      for (const values of samples) {
        const args = Object.fromEntries(checked.parameters.map(({ name }, index) => [name, values[index]]))
        const result = bindArguments(checked, args, { variables })
        const free = bindArguments(unchecked, args, { variables })
        if (!free.ok) throw new Error(JSON.stringify(free.reasons))
        const finished = (await output(free.argv)).split('\0')[0] ?? ''
        const isOption = finished.startsWith('-') && !/^-(?:$|\s|\d+(?:\.\d+)?$)/.test(finished)
        expect([args, result.ok]).toEqual([args, !isOption || word.startsWith('-- ')])
      }
    })
  }
})

test('whatever a template holds, it is either refused with a place and a way out, or runs the same under dash and bash', async () => {
  const quoting =
    '${p0} "${p0}" \'${p0}\' " \' ` $( ) (( )) $(( { } ${x:- ${x% [ ] [[ ; | && # \\ $ x 1 = * x='
  const grammar =
    "if true; then |; fi|case x in | x) |;; esac|for i in |; do |; done|f() |{ |; }|echo |<<'E'\n|<<E\n|\nE\n"
  const fragment = fc.constantFrom(...quoting.split(' '), ...grammar.split('|'), ' ', ' ', ' ', '\n')
  const templates = fc.sample(
    fc.array(fragment, { minLength: 1, maxLength: 10 }).map((pieces) => `echo ${pieces.join('')}`),
    { numRuns: RUNS, seed: 11 },
  )
  const marker = '$(echo pwned)`echo pwned`; echo pwned; "\' echo pwned'
  let accepted = 0
  for (const shell of templates) {
    let tool: ExpandedTool
    try {
      tool = load({ shell, allow_dash: true })
    } catch (error) {
      expect((error as Error).message.split('\n').length, shell).toBeGreaterThan(1)
      continue
    }
    if (!shell.includes('${p0}') || tool.parameters.length === 0 || accepted >= RUNS / 80) continue
    accepted += 1
    const result = bindArguments(tool, { p0: marker }, { variables })
    if (!result.ok) throw new Error(JSON.stringify(result.reasons))
    for (const name of SHELLS) {
      const child = spawn(name, result.argv.slice(1), { stdio: ['ignore', 'pipe', 'ignore'], cwd: '/' })
      const chunks: Buffer[] = []
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
      await once(child, 'close')
      const printed = Buffer.concat(chunks).toString()
      expect(
        printed.replaceAll(marker, '').includes('pwned'),
        `${name}: ${JSON.stringify(shell)} ${printed}`,
      ).toBe(false)
    }
  }
  expect(accepted).toBe(RUNS / 80)
})
