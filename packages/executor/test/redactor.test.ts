import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRedactor } from '../src/index.js'
import { redactFile } from '../src/internal.js'
import { workspace } from './workspace.js'

const secret = 'p@ss/wörd "1"+\n'
const redactor = createRedactor([secret])

describe('A known secret is found', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  test.each([
    ['plain', secret],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in ASCII JSON', 'p@ss/w\\u00f6rd \\"1\\"+\\n'],
    ['in JSON that escapes slashes', 'p@ss\\/wörd \\"1\\"+\\n'],
    ['URL-encoded', encodeURIComponent(secret)],
    ['URL-encoded in small letters', encodeURIComponent(secret).toLowerCase()],
    ['in a form', new URLSearchParams({ a: secret }).toString().slice(2)],
    ['in base64', base64(secret)],
    ['in the URL alphabet of base64', Buffer.from(secret).toString('base64url')],
  ])('%s', (_form, text) => {
    expect(redactor.text(`before ${text} after`)).toBe('before [REDACTED] after')
  })

  test.each(['', 'x', 'xy', 'xyz', 'user:'])('in base64 of a longer text, after %j', (prefix) => {
    const encoded = base64(`${prefix}${secret}and more`)
    const shown = redactor.text(encoded)
    expect(shown).toContain('[REDACTED]')
    expect(Buffer.from(shown.replace('[REDACTED]', ''), 'base64').toString()).not.toContain('ss/w')
  })

  test('in base64 that is broken into lines', () => {
    const long = 'k'.repeat(50) + 'secret-'.repeat(10)
    const lines = base64(long).replaceAll(/.{76}/g, '$&\n')
    expect(createRedactor([long]).text(lines)).toBe('[REDACTED]')
  })

  test('whole, when a shorter one is its beginning', () => {
    expect(createRedactor(['abcdef', 'abcdefghi']).text('abcdefghi abcdef')).toBe('[REDACTED] [REDACTED]')
  })
})

test('a secret may be long, and there may be many: none is in an error', () => {
  const file = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919) % 251)).toString('base64')
  expect(createRedactor([file]).text(`before ${file} after`)).toBe('before [REDACTED] after')
  const many = Array.from({ length: 400 }, (_, at) => `${at}-`.repeat(100))
  expect(createRedactor(many).text(many.join('\n'))).toBe(many.map(() => '[REDACTED]').join('\n'))
})

test('a secret that holds half a character is found as a command is given it', () => {
  const { text } = createRedactor(['secret-\ud83d'])
  expect(text(`got ${Buffer.from('secret-\ud83d')}.`)).toBe('got [REDACTED].')
})

test('values of fewer than six bytes are not hunted', () => {
  expect(createRedactor(['abcde']).active).toBe(false)
  expect(createRedactor(['abcde']).text('abcde')).toBe('abcde')
})

test('text around a secret, and bytes that are no text, pass unharmed', () => {
  expect(redactor.text('é 漢 🙂')).toBe('é 漢 🙂')
  const filter = redactor.filter()
  const bytes = Buffer.from([0xff, 0xfe, 0, 0xc3])
  expect(Buffer.concat([filter.push(bytes), filter.end()])).toEqual(bytes)
})

test('a file that cannot be rewritten is as it was, and nothing lies beside it', async () => {
  const { path, write, files } = await workspace()
  await write('output', 'a secret')
  const broken = { ...createRedactor(['secret']), filter: () => fail('no room') }
  expect(() => redactFile(join(path, 'output'), broken)).toThrow('no room')
  const halfway = { ...broken, filter: () => ({ push: () => fail('no room'), end: () => Buffer.alloc(0) }) }
  expect(() => redactFile(join(path, 'output'), halfway)).toThrow('no room')
  expect(await files()).toEqual(['output'])
})

test('what a command put beside a file, a link that leads elsewhere above all, is not written through', async () => {
  const { path, read, write } = await workspace()
  const known = createRedactor(['secret'])
  await write('elsewhere', 'as it was')
  await write('output', 'a secret')
  symlinkSync('elsewhere', join(path, 'output.redacted'))
  redactFile(join(path, 'output'), known)
  expect(await read('elsewhere')).toBe('as it was')
  expect(await read('output')).toBe('a [REDACTED]')
  expect(lstatSync(join(path, 'output')).isFile()).toBe(true)

  await write('output', 'a secret')
  mkdirSync(join(path, 'output.redacted/inner'), { recursive: true })
  redactFile(join(path, 'output'), known)
  expect(await read('output')).toBe('a [REDACTED]')
})

function fail(message: string): never {
  throw new Error(message)
}

test('in a stream a secret is found however the stream is cut', () => {
  const secrets = ['abcabcabd', 'abcabc']
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'abcabcabd', 'abcabc'), maxLength: 20 })
  fc.assert(
    fc.property(text, fc.array(fc.nat(7)), (whole, cuts) => {
      const redactor = createRedactor(secrets)
      const filter = redactor.filter()
      const chunks: Buffer[] = []
      let rest = Buffer.from(whole)
      for (const cut of cuts) {
        chunks.push(rest.subarray(0, cut))
        rest = rest.subarray(cut)
      }
      chunks.push(rest)
      const out = [...chunks.map((chunk) => filter.push(chunk)), filter.end()]
      expect(Buffer.concat(out).toString()).toBe(redactor.text(whole))
      expect(redactor.foundIn(chunks)).toBe(whole.includes('abcabc'))
    }),
  )
})

test('what only looks like a secret is left alone unless that is asked for', () => {
  const token = `ghp_${'aB3'.repeat(12)}`
  expect(createRedactor([]).text(token)).toBe(token)
  expect(createRedactor([], { patterns: true }).text(token)).toBe('[REDACTED]')
  expect([createRedactor([]).active, createRedactor([], { patterns: true }).active]).toEqual([false, true])
})

test('a secret between two pieces of a large file is taken out, and the file is its owner’s only', async () => {
  const { path } = await workspace()
  const file = join(path, 'large')
  const before = 'x'.repeat(1024 * 1024 - 4)
  writeFileSync(file, `${before}correct-horse and more`, { mode: 0o666 })
  redactFile(file, createRedactor(['correct-horse']))
  expect(readFileSync(file, 'utf8') === `${before}[REDACTED] and more`).toBe(true)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a filter holds back a few hundred bytes at most, however much passes', () => {
  const filter = createRedactor(['correct-horse']).filter()
  let passed = 0
  for (let piece = 1; piece <= 100; piece++) {
    passed += filter.push(Buffer.alloc(1000, 'x')).length
    expect(passed).toBeGreaterThan(piece * 1000 - 300)
  }
  expect(passed + filter.end().length).toBe(100_000)
})

test('what a command put in the place of a file, and may have no end, is not read', async () => {
  const { path } = await workspace()
  execFileSync('mkfifo', [join(path, 'pipe')])
  symlinkSync('/dev/zero', join(path, 'device'))
  for (const name of ['pipe', 'device']) {
    const program = `import { createRedactor } from '@delta/executor'
      import { redactFile } from '@delta/executor/internal'
      redactFile(${JSON.stringify(join(path, name))}, createRedactor(['hunter2-hunter2']))`
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: import.meta.dirname,
      timeout: 20_000,
    })
  }
})
