import { describe, expect, test } from 'vitest'
import { buildCommandArray, mapToCommand } from '../src/index.js'
import { box } from './helpers.js'

const tool = box(
  {
    pr: {
      description: 'Pull requests',
      commands: {
        create_now: {
          description: 'Create',
          arguments: [
            { name: 'branch', type: 'string' },
            { name: 'files', type: 'file', variadic: true, required: false },
          ],
          options: [
            { name: 'title', flags: ['-t', '--title'], type: 'string' },
            { name: 'draft', flags: ['--draft', '-d'], type: 'boolean' },
            { name: 'reviewer', flags: ['--reviewer'], type: 'array' },
            { name: 'n', flags: ['-n'], type: 'integer' },
          ],
        },
      },
    },
    '': { description: 'The bare tool' },
    constructor: { description: 'A name of Object.prototype' },
  },
  { globalOptions: [{ name: 'repo', flags: ['-R', '--repo'], type: 'string' }] },
)

function mapping(name = 'box_pr_create_now') {
  const found = mapToCommand(name, [tool])
  if (!found) throw new Error(`${name} exists`)
  return found
}
const line = (args: Record<string, unknown>) => buildCommandArray(mapping(), args).slice(3)

describe('mapToCommand', () => {
  test('finds a command whose own name holds underscores', () => {
    expect(mapping()).toMatchObject({
      command: ['box', 'pr', 'create_now'],
      path: ['pr', 'create_now'],
      tool: { name: 'box' },
    })
  })

  test('another separator makes other names', () => {
    expect(mapToCommand('box.pr.create_now', [tool], { separator: '.' })?.command).toEqual([
      'box',
      'pr',
      'create_now',
    ])
    expect(mapToCommand('box_pr_create_now', [tool], { separator: '.' })).toBeUndefined()
  })

  test('the empty name is the bare tool', () => {
    expect(mapToCommand('box_', [tool])?.command).toEqual(['box'])
  })

  test.each(['box', 'box_pr', 'box_pr_create', 'box_toString', 'box_pr___proto__', '', '__proto__'])(
    '%j is no command: groups and prototype names cannot be called',
    (name) => {
      expect(mapToCommand(name, [tool])).toBeUndefined()
    },
  )

  test('of two tools that describe one command the first counts', () => {
    const again = { ...tool, version: '2.0.0' }
    expect(mapToCommand('box_constructor', [tool, again])?.tool).toBe(tool)
  })

  test('one name for two commands is an error', () => {
    const rival = box({ create_now: { description: 'x' } }, { name: 'box_pr' })
    expect(() => mapToCommand('box_pr_create_now', [tool, rival])).toThrow('would both be called')
  })
})

describe('buildCommandArray', () => {
  test('writes positionals in order, then options with their long flags', () => {
    expect(line({ title: 'Fix it', branch: 'main', files: ['a', 'b c'], draft: true, reviewer: ['x', 'y'], n: 3 })).toEqual([
      'main', 'a', 'b c', '--title', 'Fix it', '--draft', '--reviewer', 'x', '--reviewer', 'y', '-n', '3',
    ]) // biome-ignore format: one line reads like the command line it is
  })

  test('false, null and undefined write nothing', () => {
    expect(line({ draft: false, title: null, reviewer: [], n: undefined })).toEqual([])
  })

  test('a positional that looks like a flag stays a positional', () => {
    expect(line({ branch: '--force', draft: true })).toEqual(['--draft', '--', '--force'])
  })

  test("an option's value that looks like a flag stays its value", () => {
    expect(line({ title: '-x', n: -1 })).toEqual(['--title=-x', '-n-1'])
  })

  test('global options belong to every command', () => {
    expect(line({ repo: 'a/b' })).toEqual(['--repo', 'a/b'])
  })

  test('prototype names are not arguments', () => {
    const withProto = box({
      go: { description: 'Go', arguments: [{ name: 'constructor', type: 'string', required: false }] },
    })
    const found = mapToCommand('box_go', [withProto])
    expect(found && buildCommandArray(found, {})).toEqual(['box', 'go'])
  })
})
