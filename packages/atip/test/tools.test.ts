import { bindArguments, safeParseTool } from '@delta/tool-expander'
import { describe, expect, test } from 'vitest'
import { atipToTools } from '../src/index.js'
import { box } from './helpers.js'

const variables = { AGENT_HOME: '/agent', CWD: '/work' }
const tool = box(
  {
    pr: {
      description: 'Pull requests',
      commands: {
        create: {
          description: 'Create one',
          arguments: [
            { name: 'branch', type: 'string', description: 'Branch' },
            { name: 'files', type: 'file', required: false, variadic: true },
          ],
          options: [
            { name: 'dry-run', flags: ['-n', '--dry-run'], type: 'boolean' },
            { name: 'label', flags: ['-l'], type: 'array' },
            { name: 'retries', flags: ['--retries'], type: 'integer', default: 3 },
          ],
          effects: { destructive: true, duration: { timeout: '90s' } },
        },
        list: { description: 'List them' },
      },
    },
    'issue list': { description: 'List issues' },
  },
  { trust: { source: 'vendor' }, binary: 'box-cli' },
)

describe('atipToTools', () => {
  test('makes of each command a tool that says what it does', () => {
    const [create] = atipToTools(tool, { trust: 'org' })
    expect(create).toMatchObject({
      name: 'box_pr_create',
      description: 'Create one [⚠️ DESTRUCTIVE]',
      command: ['box-cli', 'pr', 'create'],
      effects: { destructive: true },
      trust: 'org',
      timeout_ms: 90_000,
    })
  })

  test('the expander accepts it and hands on the rest, and a call becomes the command line', () => {
    for (const expanded of atipToTools(tool)) {
      const parsed = safeParseTool(expanded)
      expect(parsed).toMatchObject({ ok: true, rest: { trust: 'inferred' } })
    }
    const [create] = atipToTools(tool)
    if (!create) throw new Error('there is a tool')
    const args = { branch: 'main', files: ['a', 'b c'], dry_run: true, label: ['x', 'y'], retries: 5 }
    expect(bindArguments(create, args, { variables })).toEqual({
      ok: true,
      argv: [
        'box-cli',
        'pr',
        'create',
        'main',
        'a',
        'b c',
        '--dry-run',
        '-l',
        'x',
        '-l',
        'y',
        '--retries',
        '5',
      ],
    })
  })

  test('a value that looks like a flag is refused, as an argument and behind an option', () => {
    const [create] = atipToTools(tool)
    if (!create) throw new Error('there is a tool')
    for (const args of [{ branch: '--force' }, { branch: 'x', label: ['-rf'] }]) {
      expect(bindArguments(create, args, { variables })).toMatchObject({
        ok: false,
        reasons: [{ code: 'ERR_ARGUMENT_DASH' }],
      })
    }
  })

  test('a default of the program is told, not passed', () => {
    const [create] = atipToTools(tool)
    const retries = create?.parameters.find(({ name }) => name === 'retries')
    expect(retries).toMatchObject({ description: '(default: 3)', required: false })
    expect(retries).not.toHaveProperty('default')
  })

  test('a parameter whose name is none for us gets one, and the program its own flag', () => {
    const option = { name: '2fa-code', flags: ['--2fa-code'], type: 'string' as const }
    const [login] = atipToTools(box({ login: { description: 'Log in', options: [option] } }))
    expect(safeParseTool(login)).toMatchObject({ ok: true })
    if (!login) throw new Error('there is a tool')
    expect(bindArguments(login, { _2fa_code: '123' }, { variables })).toEqual({
      ok: true,
      argv: ['box', 'login', '--2fa-code', '123'],
    })
  })

  test('takes single commands, whole groups, and another prefix', () => {
    expect(atipToTools(tool, { commands: ['pr'], prefix: 'gh' }).map(({ name }) => name)).toEqual([
      'gh_pr_create',
      'gh_pr_list',
    ])
    expect(atipToTools(tool, { commands: ['issue list', 'pr list'] }).map(({ command }) => command)).toEqual([
      ['box-cli', 'pr', 'list'],
      ['box-cli', 'issue', 'list'],
    ])
  })

  test('of commands that would have one name one can be taken, not both', () => {
    const leaf = { description: 'x' }
    const colliding = box({ a_b: leaf, a: { description: 'g', commands: { b: leaf } } })
    expect(atipToTools(colliding, { commands: ['a_b'] }).map(({ command }) => command)).toEqual([
      ['box', 'a_b'],
    ])
    expect(() => atipToTools(colliding, { commands: ['a_b', 'a'] })).toThrow('Choose the commands to import')
  })

  test('a limit of 0, which would lift it, is none, and one beyond what a timer can wait is the longest', () => {
    const limited = (timeout: string) =>
      atipToTools(box({ go: { description: 'x', effects: { duration: { timeout } } } }))[0]?.timeout_ms
    expect([limited('0s'), limited('999999h')]).toEqual([undefined, 2_147_483_647])
  })

  test('a command that does not exist is refused with those there are', () => {
    expect(() => atipToTools(tool, { commands: ['pr delete'] })).toThrow(
      'There is no command "pr delete". There are "pr create", "pr list", "issue list".',
    )
  })

  test('trust is never more than the importer states, nor than the metadata claims', () => {
    const trustOf = (source: 'native' | 'user' | undefined, trust: 'org' | undefined) =>
      atipToTools(box({ a: { description: 'A' } }, source && { trust: { source } }), trust && { trust })[0]
        ?.trust
    expect(trustOf('native', 'org')).toBe('org')
    expect(trustOf('user', 'org')).toBe('user')
    expect(trustOf('native', undefined)).toBe('inferred')
    expect(trustOf(undefined, 'org')).toBe('inferred')
  })

  test('two parameters that become one name are refused', () => {
    const options = ['a-b', 'a_b'].map((name) => ({ name, flags: [`--${name}`], type: 'string' as const }))
    expect(() => atipToTools(box({ go: { description: 'Go', options } }))).toThrow('both become "a_b"')
  })
})
