import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, startDelta } from './delta.js'

/** Makes a run "one" in the workspace, and puts a line into its journal that is no event. */
async function damagedRun(workspace: TemporaryWorkspace, directory = workspace.path): Promise<void> {
  await using agent = await temporaryAgent({ turns: [{ content: 'First.' }] })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', directory, '--run-id', 'one', '-q'])
  const path = join(directory, '.delta/one/journal.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, lines.toSpliced(2, 0, 'no event').join('\n'))
}

/** A workspace with a run "one" whose first events never reached the disk; `named`: `LATEST` says its name all the same. */
async function emptyRun({
  named,
  journal,
}: {
  named: boolean
  journal: string
}): Promise<TemporaryWorkspace> {
  return temporaryWorkspace({
    '.delta/one/journal.jsonl': journal,
    ...(named ? { '.delta/LATEST': 'one\n' } : {}),
  })
}

test('a damaged latest run keeps no other agent from running; a note names it, and how it is repaired', async () => {
  await using workspace = await temporaryWorkspace({})
  await damagedRun(workspace)
  await using other = await temporaryAgent({ turns: [{ content: 'Other.' }] })
  const args = ['run', '--agent', other.path, '-m', 'Go', '-w', workspace.path]
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Other.\n' })
  expect(result.stderr).toContain('Run one in this workspace is damaged, and was left as it is: ')
  expect(result.stderr).toContain(`delta journal repair one -w ${workspace.path}\n`)
})

test('also in a workspace of version 1.1 the command that sets damage aside names the run', async () => {
  await using workspace = await temporaryWorkspace({ '.delta/runs/old/execution/journal.jsonl': 'garbage\n' })
  const { stderr } = await delta(['show', 'old', '-w', workspace.path])
  expect(stderr).toContain(`delta journal repair old -w ${workspace.path}\n`)
})

test('the command that sets damage aside is whole wherever it is named: typed elsewhere, it mends that run', async () => {
  await using workspace = await temporaryWorkspace({})
  const directory = join(workspace.path, "a person's work")
  await damagedRun(workspace, directory)
  const command = `delta journal repair one -w "${directory}"`
  const continued = await delta(['continue', '-w', directory, '-m', 'On'])
  const listed = await delta(['list-runs', '-w', directory])
  const verified = await delta(['journal', 'verify', '-w', directory])
  const [run] = JSON.parse((await delta(['list-runs', '--json', '-w', directory])).stdout)
  for (const text of [continued.stderr, listed.stderr, verified.stdout, run.problem])
    expect(text.trimEnd().split('\n').at(-1)).toContain(`: ${command}`)

  const shell = ['sh', '-c', command.replace('delta', () => '"$0" "$1"'), process.execPath, DELTA]
  expect(await runProcess(shell, { cwd: '/', env: cleanEnvironment() })).toMatchObject({ exitCode: 0 })
  expect((await delta(['journal', 'verify', '-w', directory])).exitCode).toBe(0)
})

test('a damaged run has the status DAMAGED in the table, in the JSON and for --status', async () => {
  await using workspace = await temporaryWorkspace({})
  await damagedRun(workspace)
  const list = (...flags: string[]) => delta(['list-runs', '-w', workspace.path, ...flags])
  expect((await list()).stdout).toMatch(/^one\s+DAMAGED/m)
  expect(JSON.parse((await list('--json')).stdout)).toMatchObject([{ run_id: 'one', status: 'DAMAGED' }])
  expect((await list('--status', 'DAMAGED', '--first')).stdout).toBe('one\n')
  expect((await list('--status', 'EMPTY', '--first')).exitCode).toBe(1)
})

test.each([
  { named: false, journal: '' },
  { named: true, journal: '' },
  { named: false, journal: '{"seq":1,"type":"ENGINE_ST' },
])('a run that never began is called that by list-runs, show and continue: %j', async (scene) => {
  await using workspace = await emptyRun(scene)
  const listed = await delta(['list-runs', '-w', workspace.path])
  expect(listed.stdout).toMatch(/^one\s+EMPTY/m)
  expect(listed.stderr).toMatch(
    /^\S+\/\.delta\/one: This run never began: its first events were not written, /,
  )
  const filtered = await delta(['list-runs', '-w', workspace.path, '--status', 'EMPTY', '--first'])
  expect(filtered.stdout).toBe('one\n')
  for (const command of [
    ['show'],
    ['show', 'one'],
    ['continue'],
    ['continue', '--run-id', 'one', '-m', 'On'],
  ]) {
    const refused = await delta([...command, '-w', workspace.path])
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain(`${workspace.path}/.delta/one: This run never began: `)
  }
})

test('a run whose journal was deleted is not called one that never began', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one'])
  await rm(join(workspace.path, '.delta/one/journal.jsonl'))
  const { stdout, stderr } = await delta(['list-runs', '-w', workspace.path])
  expect(stdout).toMatch(/^one\s+EMPTY/m)
  expect(stderr).toBe(
    `${workspace.path}/.delta/one: The journal of this run is gone, or empty, though the run had begun: its metadata.json is there.\n` +
      'Put journal.jsonl back from a copy, then continue the run; without it the run cannot be continued.\n',
  )
})

test('a run whose beginning is lost is not called one that never began, and its id is not given away', async () => {
  await using workspace = await temporaryWorkspace({})
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const started = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q']
  await delta(started)
  const path = join(workspace.path, '.delta/one/journal.jsonl')
  const later = (await readFile(path, 'utf8')).split('\n').slice(2).join('\n')
  await writeFile(path, later)

  const problem = `${path}: The beginning of this run is lost: `
  expect((await delta(['list-runs', '-w', workspace.path])).stderr).toContain(
    `Run one is damaged: ${problem}`,
  )
  for (const message of [[], ['-m', 'On']]) {
    const refused = await delta(['continue', '-w', workspace.path, '--run-id', 'one', ...message])
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain(problem)
  }
  expect((await delta(['show', 'one', '-w', workspace.path])).stdout).toContain('1. Done.\n')
  expect((await delta(started)).exitCode).toBe(2)
  expect(await readFile(path, 'utf8')).toBe(later)
})

test('a run that never began is not looked for where another one did', async () => {
  await using workspace = await emptyRun({ named: false, journal: '' })
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'a', '-q'])
  await rm(join(workspace.path, '.delta/LATEST'))
  expect((await delta(['show', '-w', workspace.path])).stdout).toContain('1. Done.\n')
})

test.each([
  ['LATEST', 0, ''],
  ['VERSION', 0, ''],
  ['one/engine.log', 0, 'engine.log is not written: '],
  ['one/journal.jsonl', 1, 'one/journal.jsonl: Could not be read: it is a pipe, not a file (ESPIPE).\n'],
  [
    'one/io/parts.jsonl',
    1,
    'one/io/parts.jsonl: Could not be written: a pipe of that name is in the way (ESPIPE).\n',
  ],
  [
    'one/lease/2',
    1,
    'one/lease/2: Could not be read: it is a pipe, not a file (ESPIPE).\nNo run creates one there',
  ],
])('a pipe in the place of %s is not waited for', async (name, exitCode, says) => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  await rm(join(workspace.path, '.delta', name), { force: true })
  await runProcess(['mkfifo', join(workspace.path, '.delta', name)])
  const goesOn = await delta(['continue', '-w', workspace.path, '-m', 'More', '-q'])
  expect(goesOn.exitCode).toBe(exitCode)
  expect(goesOn.stderr).toContain(says)
  expect((await delta(['list-runs', '-w', workspace.path])).stdout).toMatch(/^one /m)
})

test.each(['mkfifo', 'mkdir'])(
  'a record that %s put another thing in the place of hides nothing but itself',
  async (make) => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
    await using workspace = await temporaryWorkspace({})
    await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
    const records = join(workspace.path, '.delta/one/io/invocations')
    const record = join(records, String((await readdir(records))[0]))
    await rm(record)
    await runProcess([make, record])
    const request = await delta(['show', '-w', workspace.path, '--request', '1'])
    expect(request).toMatchObject({ exitCode: 1, stdout: '' })
    expect(request.stderr).toContain(`${record}: `)
    const step = await delta(['show', '-w', workspace.path, '--step', '1'])
    expect(step).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Done.') })
    expect(await delta(['context', 'explain', '-w', workspace.path])).toMatchObject({ exitCode: 0 })
  },
)

test('a pipe that a tool leaves in the place of its record ends the run with what to do, not in silence', async () => {
  await using agent = await temporaryAgent({
    tools: [
      {
        name: 'plug',
        shell:
          'cd "$RUN_DIR/io/tool_executions"; until grep -qs pid *.json; do :; done; for f in *.json; do rm "$f"; mkfifo "$f"; done',
      },
    ],
    turns: [{ tool_calls: [{ name: 'plug', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['-w', workspace.path, '--run-id', 'one']
  const plugged = await delta(['run', '--agent', agent.path, '-m', 'Go', ...args])
  expect(plugged).toMatchObject({ exitCode: 1, stdout: '' })
  expect(plugged.stderr).toContain('Could not be written: a pipe of that name is in the way (ENXIO).\n')
  expect(await delta(['continue', ...args])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test.each([
  ['in the instant it starts', ''],
  ['in the middle of its work', 'until grep -qs pid "$RUN_DIR"/io/tool_executions/*.json; do :; done; '],
])('records that a tool deletes %s do not fail the run: it can be continued', async (_, wait) => {
  await using agent = await temporaryAgent({
    // rm gives up where a file appears behind it
    tools: [{ name: 'clear', shell: `${wait}until rm -rf "$RUN_DIR/io" 2>/dev/null; do :; done` }],
    turns: [{ tool_calls: [{ name: 'clear', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['-w', workspace.path, '--run-id', 'one']
  const cleared = await delta(['run', '--agent', agent.path, '-m', 'Go', ...args])
  expect(cleared).toMatchObject({ exitCode: 1, stdout: '' })
  expect(cleared.stderr).toContain(
    '_clear.json: Could not be written: its directory does not exist (ENOENT).\n',
  )
  expect(cleared.stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id one\n`)
  expect(await delta(['continue', ...args])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a run id that is taken is answered with the command that goes on with that run', async () => {
  await using workspace = await temporaryWorkspace({})
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', '.', '--run-id', 'mine', '-q']
  expect((await delta(args, { cwd: workspace.path })).exitCode).toBe(0)
  const taken = await delta(args, { cwd: workspace.path })
  expect(taken.exitCode).toBe(2)
  expect(taken.stderr).toContain(`Choose another id.\nTo look at it: delta show mine -w ${workspace.path}\n`)
})

test('a damaged run is listed with what its whole lines say: how far it came, and its task', async () => {
  await using workspace = await temporaryWorkspace({})
  await damagedRun(workspace)
  const listed = await delta(['list-runs', '-w', workspace.path])
  expect(listed.stdout).toMatch(/^one +DAMAGED +\d+s +1 +test-agent +script +0 +Go$/m)
  expect(listed.stderr).toContain('Run one is damaged: ')
})

/** Larger than a text can be, and nearly nothing on disk. */
const GIANT = 3 * 2 ** 30

/** What may lie in the place of a journal, and how the run is then named. */
const UNREADABLE: Record<string, { make: (path: string) => Promise<unknown>; problem: string }> = {
  directory: { make: (path) => mkdir(path), problem: ': Could not be read: it is a directory' },
  pipe: { make: (path) => runProcess(['mkfifo', path]), problem: ': Could not be read: it is a pipe' },
  loop: {
    make: (path) => symlink(path, path),
    problem: ': Could not be read: it is a symbolic link that leads to itself',
  },
  binary: {
    make: (path) => writeFile(path, Buffer.from([0xff, 0x0a, 0xfe, 0x0a])),
    problem: ':1: This line is damaged: it is not UTF-8.',
  },
  giant: {
    make: (path) => writeFile(path, 'no event\n').then(() => truncate(path, GIANT)),
    problem: ': Could not be read as a whole: it is larger than 2 GiB.',
  },
  line: { make: writeLongLine, problem: ':1: This line is damaged: it is longer than 256 MiB.' },
}

async function writeLongLine(path: string): Promise<void> {
  await writeFile(path, '{"seq":1,"timestamp":"2026-01-01T00:00:00.000Z","type":"USER_MESSAGE","content":"')
  for (let mebibytes = 0; mebibytes <= 256; mebibytes++) await appendFile(path, Buffer.alloc(2 ** 20, 'x'))
  await appendFile(path, '"}\n')
}

test('whatever one run has in the place of its files, the others are listed, and it is named with what to do', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'whole', '-q'])
  const journalOf = (name: string) => join(workspace.path, '.delta', name, 'journal.jsonl')
  for (const [name, { make }] of Object.entries(UNREADABLE)) {
    await mkdir(join(workspace.path, '.delta', name))
    await make(journalOf(name))
  }
  for (const file of ['LATEST', 'whole/metadata.json', 'whole/lease/9']) {
    await workspace.write(`.delta/${file}`, '')
    await truncate(join(workspace.path, '.delta', file), GIANT)
  }

  const listed = await delta(['list-runs', '-w', workspace.path])
  expect(listed.exitCode, listed.stderr).toBe(0)
  expect(listed.stdout).toMatch(/^whole +COMPLETED /m)
  for (const [name, { problem }] of Object.entries(UNREADABLE)) {
    expect(listed.stdout).toMatch(new RegExp(`^${name} +DAMAGED `, 'm'))
    expect(listed.stderr).toContain(`Run ${name} is damaged: ${journalOf(name)}${problem}`)
  }
  expect(listed.stderr).toContain(`delta journal repair line -w ${workspace.path}\n`)
  expect((await delta(['list-runs', '-w', workspace.path, '--first'])).stdout).toBe('whole\n')

  const giant = await delta(['journal', 'verify', 'giant', '-w', workspace.path])
  expect(giant.stderr).toBe(
    `Error: ${journalOf('giant')}: Could not be read as a whole: it is larger than 2 GiB.\nRepair it by hand, put it back from a copy, or delete it.\n`,
  )
  const line = await delta(['journal', 'verify', 'line', '-w', workspace.path])
  expect(line.stdout).toContain('line 1: Damaged: it is longer than 256 MiB (')
})

test('a directory where metadata.json belongs stops nothing: the journal says the same', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  const path = `${workspace.path}/.delta/one/metadata.json`
  await rm(path)
  await mkdir(path)
  const goesOn = await delta(['continue', '-w', workspace.path, '-m', 'More', '-q'])
  expect(goesOn).toMatchObject({ exitCode: 0, stdout: 'And more.\n' })
  const notice = `note: ${path}: Could not be written: a directory of that name is in the way (EISDIR). The run does not depend on it: the journal holds the same facts.\n`
  expect(goesOn.stderr).toBe(notice)
})

test.each(['io', 'io/invocations', 'io/hooks', 'configuration'])(
  'a pipe where the directory %s of a run belongs is named, and the run goes on without a word once it is away',
  async (name) => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
    await using workspace = await temporaryWorkspace({})
    await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
    const path = `${workspace.path}/.delta/one/${name}`
    await rm(path, { recursive: true })
    await runProcess(['mkfifo', path])
    const goOn = ['continue', '-w', workspace.path, '-m', 'More', '-q']
    const refused = await delta(goOn)
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain(`Error: ${path}: Could not be written: `)
    expect(refused.stderr).toContain(
      'Put back what was there, or move what is in its place away, then continue.\n',
    )
    await rm(path)
    expect(await delta(goOn)).toMatchObject({ exitCode: 0, stdout: 'And more.\n' })
  },
)

test.each([
  ['dangling', '/nowhere/at/all', 'lease'],
  ['dangling', '/nowhere/at/all', 'io/tool_executions'],
  ['dangling', '/nowhere/at/all', 'configuration'],
  ['circular', 'configuration', 'configuration'],
  ["file's", '../../file', 'configuration'],
])(
  'verify and continue say the same of a %s link to %s where the directory %s belongs, and go on once a directory is there',
  async (_, target, name) => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
    await using workspace = await temporaryWorkspace({ file: '' })
    await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
    const path = `${workspace.path}/.delta/one/${name}`
    await rename(path, `${workspace.path}/moved`)
    await symlink(target, path)
    const journal = await readFile(`${workspace.path}/.delta/one/journal.jsonl`, 'utf8')
    const why = `${path}: Could not be written: something else of that name is in the way (EEXIST).\nPut back what was there, or move what is in its place away, then continue.\n`
    const goOn = ['continue', '-w', workspace.path, '-m', 'More', '-q']
    expect(await delta(goOn)).toMatchObject({ exitCode: 1, stderr: `Error: ${why}` })
    const verified = await delta(['journal', 'verify', '-w', workspace.path])
    expect(verified).toMatchObject({ exitCode: 1, stderr: `But the run cannot go on: ${why}` })
    expect(await readFile(`${workspace.path}/.delta/one/journal.jsonl`, 'utf8')).toBe(journal)

    await rm(path)
    await symlink(`${workspace.path}/moved`, path)
    expect(await delta(['journal', 'verify', '-w', workspace.path])).toMatchObject({
      exitCode: 0,
      stderr: '',
    })
    expect(await delta(goOn)).toMatchObject({ exitCode: 0, stdout: 'And more.\n' })
  },
)

test('a directory where a lease belongs is named, and verify says that the run cannot go on', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  const path = `${workspace.path}/.delta/one/lease/9`
  await mkdir(path)
  const why = `${path}: Could not be read: it is a directory, not a file (EISDIR).\nNo run creates one there: move it away, and try again.\n`
  const goOn = ['continue', '-w', workspace.path, '-m', 'More', '-q']
  expect(await delta(goOn)).toMatchObject({ exitCode: 1, stderr: `Error: ${why}` })
  const repaired = await delta(['journal', 'repair', '-w', workspace.path])
  expect(repaired).toMatchObject({ exitCode: 1, stderr: `Error: ${why}` })
  const verified = await delta(['journal', 'verify', '-w', workspace.path])
  expect(verified).toMatchObject({ exitCode: 1, stderr: `But the run cannot go on: ${why}` })
  expect((await delta(['list-runs', '-w', workspace.path])).stderr).toBe(`Run one is damaged: ${why}`)
  await rmdir(path)
  expect(await delta(goOn)).toMatchObject({ exitCode: 0, stdout: 'And more.\n' })
})

test('while an owner from before a restart of the machine is waited for, stderr says so, and a signal ends that at once; without a sign of life it goes on', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'And more.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  const leases = `${workspace.path}/.delta/one/lease`
  const { released: _, ...held } = JSON.parse(await readFile(`${leases}/1`, 'utf8'))
  const before = JSON.stringify({ ...held, boot_id: 'the-boot-before' })
  await writeFile(`${leases}/2`, before)
  const goOn = ['continue', '-w', workspace.path, '-m', 'More', '-q']
  const notice = new RegExp(
    `^note: The run was being written by process ${held.pid} on \\S+ before this machine restarted, it seems\\. Waiting \\d+ s for a sign of life; without one the run is taken over\\. With force it is taken at once\\.\\n`,
  )
  const journal = await readFile(`${workspace.path}/.delta/one/journal.jsonl`, 'utf8')
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const stopped = startDelta(goOn)
    await stopped.waitForOutput('With force it is taken at once', { stream: 'stderr' })
    stopped.kill(signal)
    const { exitCode, stderr } = await stopped.result
    expect([exitCode, stderr]).toEqual([code, expect.stringMatching(notice)])
    const end = `Error: Stopped (${signal}). The run was not taken, and nothing was changed.\n`
    expect(stderr.endsWith(end), stderr).toBe(true)
  }
  expect(await readdir(leases)).toEqual(['1', '2'])
  expect(await readFile(`${workspace.path}/.delta/one/journal.jsonl`, 'utf8')).toBe(journal)

  const heartbeat = new Date(Date.now() - 29_500)
  await utimes(`${leases}/2`, heartbeat, heartbeat)
  expect(await delta(goOn)).toMatchObject({ exitCode: 0, stdout: 'And more.\n' })
})
