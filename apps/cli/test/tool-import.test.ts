import { join } from 'node:path'
import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, eventTypes } from './delta.js'

const NOTES = {
  atip: '0.6',
  name: 'notes',
  version: '1.0.0',
  description: 'Keeps notes',
  trust: { source: 'user' },
  commands: {
    list: {
      description: 'Print all notes',
      effects: { network: false, destructive: false, filesystem: { write: false } },
    },
    wipe: { description: 'Delete all notes', effects: { destructive: true, reversible: false } },
    tag: {
      description: 'Tags',
      commands: { add: { description: 'Add a tag' }, drop: { description: 'Drop a tag' } },
    },
  },
}

/** A program that keeps what it was started with in `calls`, and its environment in `environment`. */
const PROGRAM = `#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> calls
env > environment
case "$1" in
  --agent) cat metadata.json ;;
  list) echo "milk" ;;
esac
`

function notesProgram(): Promise<TemporaryWorkspace> {
  return temporaryWorkspace({ notes: PROGRAM, 'metadata.json': JSON.stringify(NOTES) })
}

test('tool import runs the program once, without keys, and writes what it says of itself', async () => {
  await using program = await notesProgram()
  const env = { PATH: `${program.path}:${process.env.PATH}`, DELTA_API_KEY: 'test-key-not-real' }
  const { stdout, stderr, exitCode } = await delta(['tool', 'import', 'notes'], { cwd: program.path, env })
  expect({ stdout, exitCode }).toEqual({ stdout: 'notes.atip.json\n', exitCode: 0 })
  expect(stderr).toContain('- { atip: notes.atip.json, trust: community }')
  expect(JSON.parse(await program.read('notes.atip.json'))).toEqual(NOTES)
  expect(await program.read('calls')).toBe('--agent\n')
  expect(await program.read('environment')).not.toContain('test-key-not-real')
})

test('tool import --commands takes some commands and groups, and -o - prints them', async () => {
  await using program = await notesProgram()
  const some = ['tool', 'import', './notes', '--commands', 'list,tag add', '-o', '-']
  const { stdout } = await delta(some, { cwd: program.path })
  const imported = JSON.parse(stdout)
  expect(Object.keys(imported.commands)).toEqual(['list', 'tag'])
  expect(Object.keys(imported.commands.tag.commands)).toEqual(['add'])
  expect(imported).toMatchObject({ partial: true, filter: { commands: ['list', 'tag add'] } })
  expect(imported.binary).toBe(join(program.path, 'notes'))
  expect(program.has('notes.atip.json')).toBe(false)
})

test('what was imported is a tool that runs, and what it says of itself is held to the default rules', async () => {
  await using program = await notesProgram()
  await using agent = await temporaryAgent({
    agent: { imports: ['notes.atip.json'] },
    turns: [
      { tool_calls: [{ name: 'notes_list', arguments: {} }] },
      { tool_calls: [{ name: 'notes_wipe', arguments: {} }] },
    ],
  })
  const file = join(agent.path, 'notes.atip.json')
  const imported = await delta(['tool', 'import', join(program.path, 'notes'), '-o', file])
  expect(imported).toMatchObject({ exitCode: 0, stdout: `${file}\n` })

  const { stdout } = await delta(['tool', 'list', agent.path, '--json'])
  expect(JSON.parse(stdout).slice(0, 2)).toMatchObject([
    { name: 'notes_list', mode: 'atip', trust: 'inferred', decision: 'allow' },
    { name: 'notes_wipe', mode: 'atip', trust: 'inferred', decision: 'ask', reasons: ['destructive'] },
  ])

  await using workspace = await temporaryWorkspace({})
  const run = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(run.exitCode).toBe(101)
  expect(await eventTypes(workspace.path)).toContain('HUMAN_INPUT_REQUEST')
  expect(await program.read('calls')).toBe('--agent\nlist\n')
})

test.each([
  ['is not there', ['nothing-of-this-name'], 'nothing-of-this-name --agent: there is no such program.'],
  ['does not speak ATIP', ['echo'], 'A program that speaks ATIP prints one JSON object for: echo --agent'],
  ['has no such command', ['./notes', '--commands', 'lst'], 'There is no command "lst". There are "list"'],
])('tool import of a program that %s says so, and writes nothing', async (_case, words, message) => {
  await using program = await notesProgram()
  const result = await delta(['tool', 'import', ...words], { cwd: program.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(message)
  expect((await program.files()).filter((name) => name.endsWith('.atip.json'))).toEqual([])
})
