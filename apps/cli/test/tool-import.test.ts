import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, temporaryWorkspace, waitForExit, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, DELTA, delta, scene, startDelta } from './delta.js'

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

/** The program in a directory of its own, and `delta tool import` there. */
async function notes(metadata: object = NOTES) {
  const files = { notes: PROGRAM, 'metadata.json': JSON.stringify(metadata) }
  const program = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const importIt = (words: string[], env = {}) =>
    delta(['tool', 'import', ...words], { cwd: program.path, env })
  return { program, importIt }
}

test('tool import runs the program once, without keys, and writes what it says of itself', async () => {
  const { program, importIt } = await notes()
  const env = { PATH: `${program.path}:${process.env.PATH}`, DELTA_API_KEY: 'test-key-not-real' }
  const { stdout, stderr, exitCode } = await importIt(['notes'], env)
  expect({ stdout, exitCode }).toEqual({ stdout: 'notes.atip.json\n', exitCode: 0 })
  expect(stderr).toContain('- { atip: ./notes.atip.json, trust: user }')
  expect(JSON.parse(await program.read('notes.atip.json'))).toEqual(NOTES)
  expect(await program.read('calls')).toBe('--agent\n')
  expect(await program.read('environment')).not.toContain('test-key-not-real')
})

test('tool import --commands takes some commands and groups, -o says where to, and binary names the program from there', async () => {
  const { program, importIt } = await notes()
  const { stdout } = await importIt(['./notes', '--commands', 'list,tag add', '-o', '-'])
  const imported = JSON.parse(stdout)
  expect(Object.keys(imported.commands)).toEqual(['list', 'tag'])
  expect(Object.keys(imported.commands.tag.commands)).toEqual(['add'])
  expect(imported).toMatchObject({
    partial: true,
    filter: { commands: ['list', 'tag add'] },
    binary: join(program.path, 'notes'),
  })
  await mkdir(join(program.path, 'clerk'))
  const below = await importIt(['./notes', '-o', 'clerk/notes.atip.json'])
  expect(below.stderr).toContain('and write there:\nimports:\n  - { atip: ./notes.atip.json, trust: user }\n')
  await importIt(['./notes', '-o', 'notes.atip.json'])
  const binaries = ['clerk/notes.atip.json', 'notes.atip.json'].map(
    async (file) => JSON.parse(await program.read(file)).binary,
  )
  expect(await Promise.all(binaries)).toEqual([join(program.path, 'notes'), './notes'])
})

test('what was imported is a tool that runs, and what it says of itself is held to the default rules', async () => {
  const { program, importIt } = await notes()
  const at = await scene({
    agent: { imports: ['notes.atip.json'] },
    turns: [calls('notes_list'), calls('notes_wipe')],
  })
  const file = join(at.agent.path, 'notes.atip.json')
  expect(await importIt([join(program.path, 'notes'), '-o', file])).toMatchObject({ stdout: `${file}\n` })
  const { stdout } = await delta(['tool', 'list', at.agent.path, '--json'])
  expect(JSON.parse(stdout).slice(0, 2)).toMatchObject([
    { name: 'notes_list', mode: 'atip', trust: 'inferred', decision: 'allow' },
    { name: 'notes_wipe', mode: 'atip', trust: 'inferred', decision: 'ask', reasons: ['destructive'] },
  ])
  expect((await at.run()).exitCode).toBe(101)
  expect(await at.events('HUMAN_INPUT_REQUEST')).toHaveLength(1)
  expect(await program.read('calls')).toBe('--agent\nlist\n')
})

test('the lines that tool import prints for agent.yaml work as they are, also for a file further below; tool list says who declared the effects', async () => {
  const { program, importIt } = await notes()
  const [home, policy] = [join(program.path, 'clerk'), 'policy: { min_trust_level: user }\n']
  await mkdir(join(home, 'my tools'), { recursive: true })
  await program.write('clerk/agent.yaml', '')
  const { stderr } = await importIt(['./notes', '-o', 'clerk/my tools/notes.atip.json'])
  const [, printed = ''] = /write into clerk\/agent.yaml:\n(imports:\n.*\n)$/.exec(stderr) ?? []
  expect(printed).not.toBe('')
  const list = async () => (await delta(['tool', 'list', home])).stdout
  await program.write('clerk/agent.yaml', `${policy}${printed}`)
  expect(await list()).toMatch(/^notes_list\(\) +atip +allow +none of note \(file\) /m)
  const effects = ', effects: { notes_list: { network: true } } }'
  await program.write('clerk/agent.yaml', `${policy}${printed.replace(' }', effects)}`)
  expect(await list()).toMatch(/^notes_list\(\) +atip +allow +network \(import\) /m)
})

test('a command that prompts runs only in a call that gives its --yes, and is approved like any other; tool list says so', async () => {
  const yes = { name: 'yes', flags: ['-y', '--yes'], type: 'boolean', description: 'Ask nothing' }
  const effects = { destructive: false, interactive: { prompts: true } }
  const commands = {
    sort: { description: 'Sort', options: [yes], effects },
    drop: { description: 'Drop', options: [yes], effects: { ...effects, destructive: true } },
  }
  const { program, importIt } = await notes({ ...NOTES, commands })
  const at = await scene({
    agent: { imports: ['notes.atip.json'] },
    turns: [
      calls('notes_sort', { yes: false }),
      calls('notes_sort', { yes: true }),
      calls('notes_drop', { yes: true }),
    ],
  })
  await importIt([join(program.path, 'notes'), '-o', join(at.agent.path, 'notes.atip.json')])
  const list = async (...flags: string[]) => (await delta(['tool', 'list', at.agent.path, ...flags])).stdout
  expect(await list()).toMatch(
    /^notes_sort.* deny: interactive; with --yes allow .*\nnotes_drop.* with --yes ask: destructive /m,
  )
  expect(JSON.parse(await list('--json'))[1]).toMatchObject({
    decision: 'deny',
    with_flag: { flag: '--yes', decision: 'ask', reasons: ['destructive'] },
  })
  expect((await at.run()).exitCode).toBe(101)
  expect(await program.read('calls')).toBe('--agent\nsort --yes\n')
})

test('an agent can import delta itself, also where it is not on the PATH, and call it', async () => {
  const { agent, run } = await scene({
    agent: { imports: ['delta.atip.json'] },
    turns: [calls('delta_list-runs', { json: true }), { content: '{{last_observation}}' }],
  })
  const imported = await delta(['tool', 'import', 'delta'], { cwd: agent.path, env: { PATH: '/nowhere' } })
  expect(imported).toMatchObject({ exitCode: 0, stdout: 'delta.atip.json\n' })
  expect((await run('-q')).stdout).toContain('"initial_message": "Go"')
  expect((await delta(['tool', 'import', DELTA, '-o', '-'])).stdout).toContain('"name": "delta"')
})

const HOW = 'Name one program without arguments: its name on the PATH, or the path of an executable file'

test.each([
  [
    'is not there',
    ['nothing-of-this-name'],
    `nothing-of-this-name --agent: there is no such program.\n${HOW}`,
  ],
  [
    'does not speak ATIP',
    ['echo'],
    'A program with ATIP (Agent Tool Introspection Protocol) prints one JSON object for: echo --agent\n',
  ],
  ['is no program', ['./text'], 'the program is there, but it cannot be executed.\nName one program'],
  [
    'describes nothing',
    ['./nothing'],
    './nothing --agent: Missing required field "atip" in the ATIP metadata.',
  ],
  [
    'has described itself in this file',
    ['./metadata.json'],
    './metadata.json: it is an ATIP file already. Nothing has to be asked.\nnotes 1.0.0: Keeps notes\n',
  ],
  ['prints without end', ['./flood'], './flood --agent: printed more than 1048576 bytes.'],
  ['has no such command', ['./notes', '--commands', 'lst'], 'There is no command "lst". There are "list"'],
  ['cannot be written there', ['./notes', '-o', 'pipe'], '/pipe: it is not a regular file.'],
])('tool import of a program that %s says so, and writes nothing', async (_, words, message) => {
  const { program, importIt } = await notes()
  await program.write('flood', '#!/bin/sh\nexec yes\n')
  await program.write('nothing', '#!/bin/sh\necho {}\n')
  await program.write('text', 'milk')
  await runProcess(['mkfifo', join(program.path, 'pipe')])
  const result = await importIt(words)
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(message)
  expect(await program.files()).not.toContainEqual(expect.stringMatching(/\.atip\.json$/))
})

const LEAF = { description: 'x' }
const SAME_NAME = { a_b: LEAF, a: { description: 'g', commands: { b: LEAF } } }

test('tool import refuses two commands that would have one name, in a line; one of them can be imported', async () => {
  const { importIt } = await notes({ ...NOTES, commands: SAME_NAME })
  const refused = await importIt(['./notes'])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain(
    '"notes a_b" and "notes a b" would both be called "notes_a_b". Choose the commands to import, only one of them among them.',
  )
  const { stdout } = await importIt(['./notes', '--commands', 'a b', '-o', '-'])
  expect(Object.keys(JSON.parse(stdout).commands)).toEqual(['a'])
})

test('prototype names and 1000 commands are imported, listed and called like any others', async () => {
  const { program, importIt } = await notes()
  const many = Array.from({ length: 1_000 }, (_, index) => `"c${index}":{"description":"x"}`).join(',')
  const { commands: _, ...root } = NOTES
  const hostile = `{"__proto__":{"description":"p"},"constructor":{"description":"c"},${many}}`
  await program.write('metadata.json', `${JSON.stringify(root).slice(0, -1)},"commands":${hostile}}`)
  const { agent, run } = await scene({
    agent: { imports: ['notes.atip.json'], policy: { allow_destructive: true } },
    turns: [calls('notes_constructor'), calls('notes_toString'), { content: '{{last_observation}}' }],
  })
  await importIt([join(program.path, 'notes'), '-o', join(agent.path, 'notes.atip.json')])
  const listed = JSON.parse((await delta(['tool', 'list', agent.path, '--json'])).stdout)
  expect(listed).toHaveLength(1_002)
  expect(listed[0]).toMatchObject({ name: 'notes___proto__', effects: {}, decision: 'allow' })
  const { stdout } = await run('-q')
  expect(stdout).toContain('there is no tool "notes_toString". Nothing was run.')
  expect(stdout).toContain('and 953 more.')
  expect(await program.read('calls')).toBe('--agent\nconstructor\n')
})

test('a tool of many parameters does not push the other columns of tool list away, and lint leaves its names alone', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `HOME${index}`.replace('HOME0', 'HOME'))
  const options = names.map((name) => ({ name, flags: [`--${name}`], type: 'string', description: name }))
  const described = { ...NOTES, name: 'no-such-program', commands: { list: { description: 'All', options } } }
  const { agent } = await scene({
    agent: { imports: ['gone.atip.json'] },
    files: { 'gone.atip.json': JSON.stringify(described) },
  })
  const [, row = ''] = (await delta(['tool', 'list', agent.path])).stdout.split('\n')
  expect(row).toMatch(/^no-such-program_list\(HOME\?, [^…]*… {2}atip /)
  expect(row.indexOf('…')).toBe(59)
  const lint = await delta(['tool', 'lint', agent.path])
  expect(lint.stdout.replaceAll(`${agent.path}/`, '')).toMatch(
    /^gone\.atip\.json:1: no-such-program_list: command\[0\]: no-such-program is not on the PATH\. .*\n$/,
  )
})

test('a program that is stopped while it is asked for its description ends with what it started', async () => {
  const slow = '#!/bin/sh\ntrap "" INT TERM\nsleep 600 &\necho $! > started\nwait\n'
  const files = await temporaryWorkspace({ slow }, { onCleanup: onTestFinished })
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
