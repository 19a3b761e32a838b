import { chmod, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  runProcess,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, eventTypes, startDelta } from './delta.js'

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
  expect(stderr).toContain('- { atip: ./notes.atip.json }')
  expect(JSON.parse(await program.read('notes.atip.json'))).toEqual(NOTES)
  expect(await program.read('calls')).toBe('--agent\n')
  expect(await program.read('environment')).not.toContain('test-key-not-real')
})

test('delta itself is imported by its name where no delta is on the PATH, as its tools are found then', async () => {
  await using agent = await temporaryAgent({ turns: [] })
  const { stderr, stdout, exitCode } = await delta(['tool', 'import', 'delta', '--commands', 'list-runs'], {
    cwd: agent.path,
    env: { PATH: '/nowhere' },
  })
  expect({ stderr, stdout, exitCode }).toMatchObject({ stdout: 'delta.atip.json\n', exitCode: 0 })
  expect(JSON.parse(await agent.read('delta.atip.json'))).toMatchObject({ name: 'delta' })
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
  [
    'does not speak ATIP',
    ['echo'],
    'A program that speaks ATIP prints one JSON object for: echo --agent\nOne that does not is a tool, too, by a line under tools: in agent.yaml: - { name: …, exec: … }',
  ],
  [
    'is no program',
    ['./metadata.json'],
    './metadata.json --agent: the program is there, but it cannot be executed.\nName one program without arguments: as the shell finds it, or the path of a file that may be executed (chmod +x)',
  ],
  [
    'is only in this directory',
    ['notes'],
    'notes --agent: there is no such program.\nName one program without arguments: as the shell finds it, or the path of a file',
  ],
  [
    'is given with arguments',
    ['sh notes'],
    'sh notes --agent: there is no such program.\nName one program without arguments: ',
  ],
  [
    'describes nothing',
    ['./nothing'],
    './nothing --agent: Missing required field "atip" in the ATIP metadata.',
  ],
  ['fails', ['false'], 'false --agent: ended with exit code 1.'],
  ['prints without end', ['./flood'], './flood --agent: printed more than 1048576 bytes.'],
  ['has no such command', ['./notes', '--commands', 'lst'], 'There is no command "lst". There are "list"'],
])('tool import of a program that %s says so, and writes nothing', async (_case, words, message) => {
  await using program = await notesProgram()
  await program.write('flood', '#!/bin/sh\nexec yes\n')
  await program.write('nothing', '#!/bin/sh\necho {}\n')
  for (const name of ['flood', 'nothing']) await chmod(join(program.path, name), 0o755)
  const result = await delta(['tool', 'import', ...words], { cwd: program.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(message)
  expect((await program.files()).filter((name) => name.endsWith('.atip.json'))).toEqual([])
})

test.skipIf(process.getuid?.() === 0)(
  'tool import helps with a program that is not installed also where a directory on the PATH may not be entered',
  async () => {
    await using program = await notesProgram()
    const closed = join(program.path, 'closed')
    await mkdir(closed, { mode: 0 })
    const env = { PATH: `${closed}:${process.env.PATH}` }
    const { stderr } = await delta(['tool', 'import', 'notes'], { cwd: program.path, env })
    expect(stderr).toContain('there is no such program.\nName one program')
    await chmod(closed, 0o700)
  },
)

test('tool lint looks at what a program says of itself, but not for names of the environment', async () => {
  const options = [{ name: 'HOME', flags: ['-m'], type: 'string', description: 'The task' }]
  const described = { ...NOTES, name: 'no-such-program', commands: { run: { description: 'Runs', options } } }
  await using agent = await temporaryAgent({
    agent: { imports: ['gone.atip.json'] },
    files: { 'gone.atip.json': JSON.stringify(described) },
  })
  const { stdout, exitCode } = await delta(['tool', 'lint', agent.path])
  expect(exitCode).toBe(1)
  expect(stdout.replaceAll(`${agent.path}/`, '')).toMatch(
    /^gone\.atip\.json:1: no-such-program_run: command\[0\]: no-such-program is not on the PATH\. .*\n$/,
  )
})

test('a tool of many parameters does not push the other columns of tool list away: its line is cut, and --json has them', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `option${index}`)
  const options = names.map((name) => ({ name, flags: [`--${name}`], type: 'string', description: name }))
  const described = { ...NOTES, commands: { list: { description: 'Print all', options } } }
  await using agent = await temporaryAgent({
    agent: { imports: ['notes.atip.json'] },
    files: { 'notes.atip.json': JSON.stringify(described) },
  })
  const { stdout } = await delta(['tool', 'list', agent.path])
  expect(stdout).toMatch(/^notes_list\(option0\?, [^…]*… {2}atip /m)
  expect(stdout.split('\n')[1]?.indexOf('…')).toBe(59)
  const [listed] = JSON.parse((await delta(['tool', 'list', agent.path, '--json'])).stdout)
  expect(listed.parameters).toHaveLength(20)
})

test('a program beside the file, or below it, is named relative to it; any other by its whole path', async () => {
  await using program = await notesProgram()
  const binaryIn = async (file: string) => JSON.parse(await program.read(file)).binary
  await delta(['tool', 'import', './notes', '-o', 'notes.atip.json'], { cwd: program.path })
  expect(await binaryIn('notes.atip.json')).toBe('./notes')
  await mkdir(join(program.path, 'tools'))
  await delta(['tool', 'import', './notes', '-o', 'tools/notes.atip.json'], { cwd: program.path })
  expect(await binaryIn('tools/notes.atip.json')).toBe(join(program.path, 'notes'))
})

test('what is no file is not replaced by one', async () => {
  await using workspace = await temporaryWorkspace({ notes: PROGRAM, 'metadata.json': JSON.stringify(NOTES) })
  await chmod(join(workspace.path, 'notes'), 0o755)
  const pipe = join(workspace.path, 'pipe')
  await runProcess(['mkfifo', pipe])
  const refused = await delta(['tool', 'import', './notes', '-o', 'pipe'], { cwd: workspace.path })
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain(`Error: ${pipe}: it is not a regular file.`)
  expect((await lstat(pipe)).isFIFO()).toBe(true)
})

test('the line for agent.yaml is written from where the agent is, above the file or not yet anywhere', async () => {
  await using program = await notesProgram()
  await mkdir(join(program.path, 'clerk/tools'), { recursive: true })
  const importTo = (file: string) => delta(['tool', 'import', './notes', '-o', file], { cwd: program.path })
  expect((await importTo('clerk/tools/notes.atip.json')).stderr).toContain(
    'To give it to an agent, write it into its directory with -o, and then in its agent.yaml:\n',
  )
  await program.write('clerk/agent.yaml', 'name: clerk\n')
  expect((await importTo('clerk/tools/notes.atip.json')).stderr).toContain(
    'To give it to an agent, in its agent.yaml:\n  imports:\n    - { atip: ./tools/notes.atip.json }\n',
  )
})

const LEAF = { description: 'x' }
const deep = (levels: number): object =>
  levels === 0 ? LEAF : { description: 'x', commands: { n: deep(levels - 1) } }

test.each([
  [
    'two commands that would have one name',
    { a_b: LEAF, a: { description: 'g', commands: { b: LEAF } } },
    '"notes a_b" and "notes a b" would both be called "notes_a_b". Choose the commands to import, only one of them among them.',
  ],
  ['commands that nest without end', { n: deep(200) }, 'Commands nest deeper than 32 levels.'],
  [
    'a danger that is a text',
    { go: { ...LEAF, effects: { destructive: 'false' } } },
    'commands.go.effects.destructive must be true or false, got "false".',
  ],
  ['a list of commands', [LEAF], 'commands must be an object from names to commands, got a list.'],
])('tool import refuses %s, in a line, and writes nothing', async (_what, commands, message) => {
  await using program = await notesProgram()
  await program.write('metadata.json', JSON.stringify({ ...NOTES, commands }))
  const result = await delta(['tool', 'import', './notes'], { cwd: program.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(message)
  expect(result.stderr.length).toBeLessThan(300)
  expect(program.has('notes.atip.json')).toBe(false)
})

test('of commands that would have one name a single one can be imported', async () => {
  await using program = await notesProgram()
  const commands = { a_b: LEAF, a: { description: 'g', commands: { b: LEAF } } }
  await program.write('metadata.json', JSON.stringify({ ...NOTES, commands }))
  const { stdout } = await delta(['tool', 'import', './notes', '--commands', 'a b', '-o', '-'], {
    cwd: program.path,
  })
  expect(Object.keys(JSON.parse(stdout).commands)).toEqual(['a'])
})

test('prototype names and 10000 commands are imported, listed and called like any others', async () => {
  await using program = await notesProgram()
  const many = Array.from({ length: 10_000 }, (_, index) => `"c${index}":{"description":"x"}`).join(',')
  const { commands: _, ...root } = NOTES
  const hostile = `{"__proto__":{"description":"p"},"constructor":{"description":"c"},${many}}`
  await program.write('metadata.json', `${JSON.stringify(root).slice(0, -1)},"commands":${hostile}}`)
  await using agent = await temporaryAgent({
    agent: { imports: ['notes.atip.json'], policy: { allow_destructive: true } },
    turns: [
      { tool_calls: [{ name: 'notes_constructor', arguments: {} }] },
      { tool_calls: [{ name: 'notes_toString', arguments: {} }] },
      { content: '{{last_observation}}' },
    ],
  })
  await delta(['tool', 'import', join(program.path, 'notes'), '-o', join(agent.path, 'notes.atip.json')])
  const listed = JSON.parse((await delta(['tool', 'list', agent.path, '--json'])).stdout)
  expect(listed).toHaveLength(10_002)
  expect(listed[0]).toMatchObject({ name: 'notes___proto__', effects: {}, decision: 'allow' })

  await using workspace = await temporaryWorkspace({})
  const run = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  expect(run.stdout).toContain('there is no tool "notes_toString". Nothing was run.')
  expect(run.stdout).toContain('and 9953 more.')
  expect(await program.read('calls')).toBe('--agent\nconstructor\n')
})

test('a program that is stopped while it is asked for its description ends with what it started', async () => {
  await using files = await temporaryWorkspace({
    slow: '#!/bin/sh\ntrap "" INT TERM\nsleep 600 &\necho $! > started\nwait\n',
  })
  await chmod(join(files.path, 'slow'), 0o755)
  const command = startDelta(['tool', 'import', './slow'], { cwd: files.path })
  const pid = Number(await waitForFile(join(files.path, 'started'), /\d+\n/))
  command.kill('SIGINT')
  expect(await command.result).toMatchObject({
    exitCode: 130,
    stdout: '',
    stderr: 'Error: Stopped (SIGINT). Nothing was written.\n',
  })
  await waitForExit(pid)
})
