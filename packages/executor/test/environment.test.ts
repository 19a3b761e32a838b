import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandEnvironment, credentialsOf, quoteCommand, quoteForPerson } from '../src/index.js'

describe('The environment of a command', () => {
  const base = {
    PATH: '/bin',
    OPENAI_API_KEY: 'sk-1',
    DELTA_API_KEY: 'k',
    DELTA_ACTION_ID: 'of-a-parent',
    RUN_DIR: '/old',
  }

  test('is the caller’s without the engine’s credentials, plus the base set', () => {
    const run = {
      runId: 'r1',
      runDirectory: '/w/.delta/r1',
      journalPath: '/w/.delta/r1/journal.jsonl',
      actionId: '1-0',
    }
    expect(commandEnvironment(base, { agentHome: '/a', workDirectory: '/w', ...run })).toEqual({
      PATH: '/bin',
      AGENT_HOME: '/a',
      DELTA_AGENT_HOME: '/a',
      CWD: '/w',
      DELTA_CWD: '/w',
      DELTA_RUN_ID: 'r1',
      DELTA_RUN_DIR: '/w/.delta/r1',
      RUN_DIR: '/w/.delta/r1',
      DELTA_PARENT_RUN: '/w/.delta/r1',
      JOURNAL_PATH: '/w/.delta/r1/journal.jsonl',
      DELTA_ACTION_ID: '1-0',
    })
  })

  test('does not pass on what another engine set for this process', () => {
    expect(commandEnvironment(base, { agentHome: '/a', workDirectory: '/w' })).toEqual({
      PATH: '/bin',
      AGENT_HOME: '/a',
      DELTA_AGENT_HOME: '/a',
      CWD: '/w',
      DELTA_CWD: '/w',
    })
  })

  test('can be extended, and can have other credentials', () => {
    const options = {
      agentHome: '/a',
      workDirectory: '/w',
      credentials: ['PATH'],
      extra: { CWD: '/x', EXTRA: '1' },
    }
    expect(commandEnvironment(base, options)).toMatchObject({ OPENAI_API_KEY: 'sk-1', CWD: '/x', EXTRA: '1' })
    expect(commandEnvironment(base, options)).not.toHaveProperty('PATH')
  })

  test('the credentials taken out are still to be had', () => {
    expect(credentialsOf(base)).toEqual({ OPENAI_API_KEY: 'sk-1', DELTA_API_KEY: 'k' })
    expect(credentialsOf({})).toEqual({})
  })
})

describe('A quoted command', () => {
  test('is as plain as it can be', () => {
    expect(quoteCommand(['grep', '-n', 'a b', './x.txt', '', "it's", '*'])).toBe(
      `grep -n 'a b' ./x.txt '' "it's" \\*`,
    )
    expect(quoteCommand(['A=b', 'A=b'])).toBe('A\\=b A=b')
  })

  test('means the same argv to a shell', () => {
    const word = fc.string({
      unit: fc.constantFrom(...'a \'"$`\\\n\t\r*?~!#é-=:,;&|<>(){}[]^%@'),
    })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const printed = execFileSync('sh', ['-c', quoteCommand(['printf', '%s\\0', ...words])], {
          encoding: 'utf8',
        })
        expect(printed.split('\0').slice(0, -1)).toEqual(words)
      }),
      { numRuns: 50 },
    )
  })
})

describe('A command that a person has to judge', () => {
  test('is quoted as any other while all of it can be seen', () => {
    expect(quoteForPerson(['rm', '-rf', 'a b', "it's", 'A=b'])).toBe(`rm -rf 'a b' "it's" A=b`)
  })

  test('has one line, shows what is invisible, and means the same argv to a shell', () => {
    const word = fc.string({
      unit: fc.constantFrom(
        'a',
        '7',
        ' ',
        "'",
        '\\',
        '$',
        '\n',
        '\t',
        '\r',
        '\u001b',
        '\u0085',
        '\u202e',
        '\u200b',
        '\u2028',
        '\u{e0041}',
        '\u00a0',
        '\u2800',
        '\u3164',
        '\ufe0f',
      ),
    })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const line = quoteForPerson(['printf', '%s\\0', ...words])
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u2800\u3164]|\ufe0f/u)
        expect(execFileSync('bash', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(
          words,
        )
      }),
      { numRuns: 50 },
    )
  })

  test('keeps the lines of words that its reader wrote', () => {
    expect(quoteForPerson(['sh', '-c', 'a\nb', 'a\nc'], ['sh', '-c', 'a\nb'])).toBe(`sh -c 'a\nb' $'a\\nc'`)
  })
})
