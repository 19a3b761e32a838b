import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { delta, EXAMPLES } from './delta.js'
import { SAY, twoRuns } from './two-runs.js'

test.each([['show'], ['list-runs']])(
  '%s of a workspace that is not there is a usage error',
  async (command) => {
    await using workspace = await temporaryWorkspace({})
    const result = await delta([command, '-w', 'a/b'], { cwd: workspace.path })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toBe(`Error: -w a/b: there is no such directory. Create it, or name another one.\n`)
  },
)

test('show and continue of a run that is not there name the command that lists the others', async () => {
  await using workspace = await twoRuns()
  const shown = await delta(['show', 'nope', '-w', workspace.path])
  expect(shown).toMatchObject({ exitCode: 2, stdout: '' })
  expect(shown.stderr).toBe(
    `Error: No run nope in ${workspace.path}. There are others.\nTo see which runs there are: delta list-runs -w ${workspace.path}\n`,
  )
  expect(await delta(['continue', '--run-id', 'nope', '-w', workspace.path])).toEqual(shown)
})

test('a run may be named by a beginning of its id that no other has', async () => {
  await using workspace = await twoRuns()
  expect((await delta(['show', 'do', '-w', workspace.path])).stdout).toContain('run done of ')
  const answered = await delta(['continue', '--run-id', 'as', '-m', 'This.', '-w', workspace.path])
  expect(answered.stderr).toContain('The agent of run asks was in ') // and is gone

  const run = ['run', '--agent', `${EXAMPLES}1-basics/hello-world`, '-w', workspace.path, '-m', 'Go', '-q']
  for (const id of ['done-2', 'do-3']) await delta([...run, '--run-id', id])
  const several = await delta(['continue', '--run-id', 'do', '-m', 'On', '-w', workspace.path])
  expect(several).toMatchObject({ exitCode: 2, stdout: '' })
  expect(several.stderr).toBe(
    'Error: The ids of 3 runs begin with do. Type more of the one you mean. To see them: delta list-runs -w ' +
      `${workspace.path}\n`,
  )
  expect((await delta(['show', 'done', '-w', workspace.path])).stdout).toContain('run done of ')
})

test('a run or a workspace that is not there is named', async () => {
  await using workspace = await twoRuns()
  const none = await delta(['show', 'nope', '-w', workspace.path])
  expect(none).toMatchObject({ exitCode: 2, stdout: '' })
  expect(none.stderr).toContain(`No run nope in ${workspace.path}`)
  const nowhere = await delta(['show', '-w', '/nowhere/at/all'])
  expect(nowhere).toMatchObject({ exitCode: 2, stdout: '' })
  expect(nowhere.stderr).toContain(
    '-w /nowhere/at/all: there is no such directory. Create it, or name another one.\n',
  )
  await using empty = await temporaryWorkspace({})
  expect((await delta(['show', '-w', empty.path])).stderr).toContain(`No runs in ${empty.path}`)
  const outside = await delta(['show', '../../etc', '-w', workspace.path])
  expect(outside).toMatchObject({ exitCode: 2, stdout: '' })
})

test('config prints the resolved agent and where settings come from, never a secret', async () => {
  await using agent = await temporaryAgent({
    agent: { imports: ['more.yaml'], llm: { model: 'gpt-4o', api_key_hint: 'x' } },
    tools: [SAY],
    files: {
      'more.yaml': 'tools:\n  - name: list\n    exec: ls\n',
      '.env': 'DELTA_API_KEY=test-key-not-real\n',
    },
  })
  await using workspace = await temporaryWorkspace({})
  const { stdout, exitCode } = await delta(['config', '--agent', agent.path, '-w', workspace.path])
  expect(exitCode).toBe(0)
  expect(stdout).not.toContain('test-key-not-real')
  const shown = parse(stdout)
  expect(shown.settings).toEqual([{ name: 'DELTA_API_KEY', from: join(agent.path, '.env') }])
  expect(shown.agent.tools.map((tool: { name: string }) => tool.name)).toEqual(['list', 'say'])
  expect(shown.context.sources).toHaveLength(2)
  const json = await delta(['config', '--agent', agent.path, '-w', workspace.path, '--json'])
  expect(JSON.parse(json.stdout)).toEqual(shown)
})

test('journal verify finds nothing wrong with a healthy journal and exits with 0', async () => {
  await using workspace = await twoRuns()
  const { exitCode, stdout } = await delta(['journal', 'verify', 'done', '-w', workspace.path])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('7 events.\nThe journal can be read and continued.\n')
})

test('a damaged line stops continue with file and line, verify names it, repair sets it aside, and the run goes on', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'First.' }, { content: 'Second.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  const path = join(workspace.path, '.delta/one/journal.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  const damaged = [...lines.slice(0, 2), '{"seq":2,"type"', ...lines.slice(2)].join('\n')
  await writeFile(path, damaged)

  const refused = await delta(['continue', '-w', workspace.path, '-m', 'On'])
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toMatch(/journal\.jsonl:3/)
  expect(refused.stderr).toContain('delta journal repair')
  expect(await readFile(path, 'utf8')).toBe(damaged)

  const found = await delta(['journal', 'verify', '-w', workspace.path, '--json'])
  expect(found.exitCode).toBe(1)
  expect(JSON.parse(found.stdout)).toMatchObject({ ok: false, findings: [{ kind: 'damage', line: 3 }] })
  expect((await delta(['list-runs', '-w', workspace.path])).stdout).toMatch(/^one\s+DAMAGED/m)

  const repaired = await delta(['journal', 'repair', '-w', workspace.path])
  expect(repaired.exitCode).toBe(0)
  expect(repaired.stdout).toContain('The journal as it was is kept, whole, in ')
  expect(await readFile(path, 'utf8')).toBe(lines.join('\n'))
  expect(await delta(['continue', '-w', workspace.path, '-m', 'On'])).toMatchObject({
    exitCode: 0,
    stdout: 'Second.\n',
  })
})

test.each([
  ['emptied', () => ''],
  ['removed', () => undefined],
  ['without its first line', (text: string) => text.slice(text.indexOf('\n') + 1)],
])(
  'a journal that was %s is a finding, and repair says that the run cannot be continued',
  async (_, change) => {
    await using workspace = await twoRuns()
    const path = join(workspace.path, '.delta/done/journal.jsonl')
    const changed = change(await readFile(path, 'utf8'))
    if (changed === undefined) await rm(path)
    else await writeFile(path, changed)

    const found = await delta(['journal', 'verify', 'done', '-w', workspace.path])
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(
      'It has no ENGINE_START, which names the agent: the run cannot be continued.',
    )
    expect(found.stdout).not.toContain('can be read and continued')
    const repaired = await delta(['journal', 'repair', 'done', '-w', workspace.path])
    expect(repaired.exitCode).toBe(1)
    expect(repaired.stdout).toContain('the run cannot be continued.\nPut the journal back from a copy')
    const refused = await delta(['continue', '-w', workspace.path, '--run-id', 'done', '-m', 'On'])
    expect(refused.exitCode).not.toBe(0)
  },
)
