import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changedExample, delta, resultsOf, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/interactive-shell'

/** What the model asks for, one call after the other; it takes the session's id from what it reads. */
const STEPS = `const steps = [
  ['I need a bash session to run multiple commands.', 'session_start', {}],
  ['Check disk usage in current directory.', 'session_exec', { command: 'df -h .' }],
  [
    'Find files larger than 100MB.',
    'session_exec',
    { command: 'find . -type f -size +100M -exec ls -lh {} \\\\;' },
  ],
  ['Task complete, clean up session.', 'session_end', { session_id }],
]`

test('an agent looks at the disk, finds what is large, and ends its session', async () => {
  const agent = await changedExample(EXAMPLE, (yaml) => yaml)
  const path = join(agent, 'model.mjs')
  const model = await readFile(path, 'utf8')
  const changed = model
    .replace(/const steps = \[[\s\S]*?\n\]/, () => STEPS)
    .replace('Errors in each log', 'Large files')
  expect(changed).toContain('df -h .')
  await writeFile(path, changed)

  const workspace = await workspaceOf(EXAMPLE, { 'large-file.dat': '', 'small-file.dat': 'small' })
  await truncate(join(workspace.path, 'large-file.dat'), 150 * 1024 * 1024)
  const { exitCode, stdout } = await delta([
    'run',
    '--agent',
    agent,
    '-w',
    workspace.path,
    '-m',
    'What fills the disk?',
  ])
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^Large files:\n/) })

  const results = await resultsOf(workspace)
  expect(results.map(([name, status]) => [name, status])).toEqual([
    ['session_start', 'SUCCESS'],
    ['session_exec', 'SUCCESS'],
    ['session_exec', 'SUCCESS'],
    ['session_end', 'SUCCESS'],
  ])
  const [started, usage, large, ended] = results.map(([, , observation]) => JSON.parse(observation))
  expect(started).toEqual({
    session_id: expect.stringMatching(/^sess_/),
    command: 'bash',
    work_dir: workspace.path,
    status: 'active',
  })
  expect(usage).toMatchObject({
    stdout: expect.stringMatching(/^Filesystem[\s\S]*Mounted on\n/),
    exit_code: 0,
  })
  expect(large).toMatchObject({
    stdout: expect.stringMatching(/^-rw.* 150M .* \.\/large-file\.dat\n$/),
    stderr: '',
  })
  expect(ended).toEqual({ status: 'terminated', session_id: started.session_id })
  expect((await workspace.files()).filter((file) => /^\.sessions\/sess_/.test(file))).toEqual([])
})
