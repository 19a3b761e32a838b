import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseListing, quote } from '../src/drivers/shell.js'

/** Any bytes but NUL, which no variable can hold, as latin1; the shell's own characters often. */
const bytes = fc
  .array(fc.oneof(fc.constantFrom(...`'"$\`\\\n\t !=()\x01\x7f`), fc.integer({ min: 1, max: 255 })), {
    maxLength: 30,
  })
  .map((all) => all.map((one) => (typeof one === 'string' ? one : String.fromCharCode(one))).join(''))

/** What a shell lists after a script. */
function list(shell: string, script: string, locale: string): string {
  const input = Buffer.from(script, 'latin1')
  const output = execFileSync(shell, [], {
    input,
    env: { LC_ALL: locale, PATH: process.env.PATH },
  })
  return output.toString('latin1')
}

describe.each([
  ['bash', 'declare -p', 'C'],
  ['bash', 'declare -p', 'C.UTF-8'],
  ['bash', 'set -o posix; export -p; set', 'C.UTF-8'],
  ['sh', 'export -p; set', 'C.UTF-8'],
])('what %s prints for "%s" in the locale %s', (shell, listing, locale) => {
  test('is read back byte for byte, whatever the values hold', () => {
    fc.assert(
      fc.property(fc.array(bytes, { minLength: 20, maxLength: 20 }), (values) => {
        const assign = values.map(
          (value, index) => `V${index}=${quote(value)}; export E${index}="$V${index}"\n`,
        )
        const listed = new Map(
          parseListing(list(shell, `${assign.join('')}${listing}\n`, locale)).map(({ name, value }) => [
            name,
            value,
          ]),
        )
        expect(values.map((_, index) => listed.get(`V${index}`))).toEqual(values)
        expect(values.map((_, index) => listed.get(`E${index}`))).toEqual(values)
      }),
      { numRuns: 20 },
    )
  })
})

test('what no shell prints is refused', () => {
  expect(() => parseListing("x='open")).toThrow(SyntaxError)
  expect(() => parseListing('=1\n')).toThrow(SyntaxError)
  expect(() => parseListing('x=1')).toThrow(SyntaxError)
})
