import { mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, delta, scene } from './delta.js'

const TURNS = [{ content: 'Done.' }, { content: 'And more.' }]

/** A workspace with a completed run "one", and `path` of what it keeps. */
async function completed(turns: { content: string }[] = TURNS) {
  const at = await scene({ turns })
  await at.run('--run-id', 'one', '-q')
  const path = (name: string) => join(at.workspace.path, '.delta/one', name)
  const resume = (...flags: string[]) => at.at('continue', '-m', 'More', '-q', ...flags)
  return { ...at, path, resume }
}

test('a damaged line stops continue and no other agent; verify names it, and the command that is printed sets it aside', async () => {
  const agent = await temporaryAgent({ turns: TURNS, onCleanup: onTestFinished })
  const home = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const directory = join(home.path, "a person's work")
  const where = ['-w', directory]
  const run = ['run', '--agent', agent.path, ...where, '-q']
  await delta([...run, '-m', 'Go', '--run-id', 'one'])
  const path = join(directory, '.delta/one/journal.jsonl')
  const whole = await readFile(path, 'utf8')
  const damaged = whole.split('\n').toSpliced(2, 0, '{"seq":2,"type"').join('\n')
  await writeFile(path, damaged)

  const command = `delta journal repair one -w "${directory}"`
  const found = await delta(['journal', 'verify', ...where, '--json'])
  expect(found.exitCode).toBe(1)
  expect(JSON.parse(found.stdout)).toMatchObject({ ok: false, findings: [{ kind: 'damage', line: 3 }] })
  const continued = await delta(['continue', ...where, '-m', 'On'])
  expect(continued.exitCode).toBe(1)
  expect(continued.stderr).toContain(`${path}:3: `)
  const listed = await delta(['list-runs', ...where])
  expect(listed.stdout).toMatch(/^one +DAMAGED +\d+s +1 +test-agent +script +0 +Go$/m)
  const status = ['list-runs', ...where, '--first', '--status']
  expect((await delta([...status, 'DAMAGED'])).stdout).toBe('one\n')
  expect((await delta(['list-runs', ...where, '--first', '--resumable'])).exitCode).toBe(1)
  const [{ problem }] = JSON.parse((await delta(['list-runs', '--json', ...where])).stdout)
  for (const text of [
    continued.stderr,
    listed.stderr,
    (await delta(['journal', 'verify', ...where])).stdout,
    problem,
  ])
    expect(text.trimEnd().split('\n').at(-1)).toContain(`: ${command}`)
  for (const more of [['--new'], []]) {
    await writeFile(join(directory, '.delta/LATEST'), 'one\n')
    const other = await delta([...run, '-m', 'Else', ...more])
    expect(other).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(other.stderr).toContain('Run one in this workspace is damaged, and was left as it is: ')
  }
  expect(await readFile(path, 'utf8')).toBe(damaged)

  const shell = ['sh', '-c', command.replace('delta', () => '"$0" "$1"'), process.execPath, DELTA]
  const repaired = await runProcess(shell, { cwd: '/', env: cleanEnvironment() })
  expect(repaired.stdout).toContain('The journal as it was is kept, whole, in ')
  expect(await readFile(path, 'utf8')).toBe(whole)
  expect((await delta(['continue', ...where, '--run-id', 'one', '-m', 'On'])).stdout).toBe('And more.\n')
})

test.each([
  { LATEST: false, journal: '' },
  { LATEST: true, journal: '{"seq":1,"type":"ENGINE_ST' },
])(
  'a run that never began is called that by list-runs, show and continue: %j',
  async ({ LATEST, journal }) => {
    const { at, workspace, run } = await scene(
      {},
      { files: { '.delta/one/journal.jsonl': journal, ...(LATEST ? { '.delta/LATEST': 'one\n' } : {}) } },
    )
    const said = `${workspace.path}/.delta/one: This run never began: `
    expect((await at('list-runs', '--status', 'EMPTY', '--first')).stdout).toBe('one\n')
    expect((await at('list-runs')).stderr).toContain(said)
    for (const refused of [
      await at('show'),
      await at('continue'),
      await at('continue', '--run-id', 'one', '-m', 'On'),
    ]) {
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
      expect(refused.stderr).toContain(said)
    }
    await run('--run-id', 'another', '-q')
    await rm(join(workspace.path, '.delta/LATEST'))
    expect((await at('show')).stdout).toContain('1. Done.\n') // it is not looked for where another one began
  },
)

test.each([
  ['removed', () => undefined, 1],
  ['without its first line', (text: string) => text.slice(text.indexOf('\n') + 1), 1],
])(
  'a journal that was %s is a finding, and neither repair nor continue goes on with it',
  async (_, change, code) => {
    const { at, run, path, resume } = await completed()
    const changed = change(await readFile(path('journal.jsonl'), 'utf8'))
    if (changed === undefined) await rm(path('journal.jsonl'))
    else await writeFile(path('journal.jsonl'), changed)
    const found = await at('journal verify')
    expect(found.exitCode).toBe(code)
    expect(found.stdout).toContain(
      'It has no ENGINE_START, which names the agent: the run cannot be continued.',
    )
    const repaired = await at('journal repair')
    expect(repaired.exitCode).toBe(1)
    expect(repaired.stdout).toContain('the run cannot be continued.\nPut the journal back from a copy')
    expect((await resume()).exitCode).toBe(1)
    expect((await at('list-runs')).stderr).not.toContain('never began')
    expect((await run('--run-id', 'one')).exitCode).toBe(2) // its id is not given away
  },
)

test.each([
  ['LATEST', 0, ''],
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
  const { at, resume, workspace } = await completed()
  await rm(join(workspace.path, '.delta', name), { force: true })
  await runProcess(['mkfifo', join(workspace.path, '.delta', name)])
  const resumed = await resume()
  expect(resumed.exitCode).toBe(exitCode)
  expect(resumed.stderr).toContain(says)
  if (!/parts|engine/.test(name)) expect((await at('list-runs')).stdout).toMatch(/^one /m) // which does not open the others
})

test('a pipe in the place of a record, or a directory in that of metadata.json, hides nothing but itself', async () => {
  const { at, path, resume } = await completed()
  const record = path(`io/invocations/${(await readdir(path('io/invocations')))[0]}`)
  await rm(record)
  await runProcess(['mkfifo', record])
  const request = await at('show', '--request', '1')
  expect(request).toMatchObject({ exitCode: 1, stdout: '' })
  expect(request.stderr).toContain(`${record}: `)
  expect((await at('show', '--step', '1')).stdout).toContain('Done.')
  expect((await at('context explain')).exitCode).toBe(0)
  await rm(path('metadata.json'))
  await mkdir(path('metadata.json'))
  expect(await resume()).toMatchObject({
    stdout: 'And more.\n',
    stderr: `note: ${path('metadata.json')}: Could not be written: a directory of that name is in the way (EISDIR). The run does not depend on it: the journal holds the same facts.\n`,
  })
})

test('a pipe that a tool leaves in the place of its record is replaced by the record', async () => {
  const shell =
    'cd "$RUN_DIR/io/tool_executions"; until grep -qs pid *.json; do :; done; for f in *.json; do rm "$f"; mkfifo "$f"; done'
  const { run, workspace } = await scene({
    tools: [{ name: 'break', shell }],
    turns: [calls('break'), { content: 'Done.' }],
  })
  const path = join(workspace.path, '.delta/one/io/tool_executions')
  expect(await run('--run-id', 'one')).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const [record = ''] = await readdir(path)
  expect(await readFile(join(path, record), 'utf8')).toContain('"status": "SUCCESS"')
})

test('records that a tool deletes end the run with the cause, and it can be continued', async () => {
  // rm gives up where a file appears behind it
  const shell =
    'until grep -qs pid "$RUN_DIR"/io/tool_executions/*.json; do :; done; until rm -rf "$RUN_DIR/io" 2>/dev/null; do :; done'
  const { run, at, workspace } = await scene({
    tools: [{ name: 'break', shell }],
    turns: [calls('break'), { content: 'Done.' }],
  })
  const broken = await run('--run-id', 'one')
  expect(broken).toMatchObject({ exitCode: 1, stdout: '' })
  expect(broken.stderr).toContain(
    '_break.json: Could not be written: its directory does not exist (ENOENT).\n',
  )
  expect(broken.stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id one\n`)
  expect(await at('continue')).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
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
}

test('whatever one run has in the place of its files, the others are listed, and it is named with what to do', async () => {
  const { at, path, workspace } = await completed()
  const journalOf = (name: string) => join(workspace.path, '.delta', name, 'journal.jsonl')
  for (const [name, { make }] of Object.entries(UNREADABLE)) {
    await mkdir(join(workspace.path, '.delta', name))
    await make(journalOf(name))
  }
  for (const file of [join(workspace.path, '.delta/LATEST'), path('metadata.json'), path('lease/9')]) {
    await writeFile(file, '')
    await truncate(file, GIANT)
  }
  const listed = await at('list-runs')
  expect(listed.exitCode, listed.stderr).toBe(0)
  expect(listed.stdout).toMatch(/^one +COMPLETED /m)
  for (const [name, { problem }] of Object.entries(UNREADABLE)) {
    expect(listed.stdout).toMatch(new RegExp(`^${name} +DAMAGED `, 'm'))
    expect(listed.stderr).toContain(`Run ${name} is damaged: ${journalOf(name)}${problem}`)
  }
  expect((await at('list-runs', '--first')).stdout).toBe('one\n')
  expect((await at('journal verify', 'giant')).stderr).toBe(
    `Error: ${journalOf('giant')}: Could not be read as a whole: it is larger than 2 GiB.\nRepair it by hand, put it back from a copy, or delete it.\n`,
  )
})

test.each([
  ['a dangling link', '/nowhere/at/all', 'lease'],
  ['a dangling link', '/nowhere/at/all', 'io/tool_executions'],
  ['a link to itself', 'configuration', 'configuration'],
])('verify and continue say the same of %s to %s where the directory %s belongs', async (_, target, name) => {
  const { at, path, resume, workspace } = await completed()
  await rename(path(name), join(workspace.path, 'moved'))
  await symlink(target, path(name))
  const journal = await readFile(path('journal.jsonl'), 'utf8')
  const why = `${path(name)}: Could not be written: something else of that name is in the way (EEXIST).\nPut back what was there, or move what is in its place away, then continue.\n`
  expect(await resume()).toMatchObject({ exitCode: 1, stderr: `Error: ${why}` })
  const verified = await at('journal verify')
  expect(verified).toMatchObject({ exitCode: 1, stderr: `But the run cannot go on: ${why}` })
  expect(await readFile(path('journal.jsonl'), 'utf8')).toBe(journal)

  await rm(path(name))
  await symlink(join(workspace.path, 'moved'), path(name))
  expect(await at('journal verify')).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await resume()).stdout).toBe('And more.\n')
})
