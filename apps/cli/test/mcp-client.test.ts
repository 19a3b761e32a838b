import { fixtures, temporaryWorkspace, waitForExit } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta } from './delta.js'
import { atDesk, imported, processesOf } from './mcp-client.js'

const RESTARTED = '[server desk was restarted; what it held in memory is gone]\n'

test('within a run one server process keeps its state, and one that had to be started again says so', async () => {
  const desk = await atDesk([
    { tool_calls: [calls('desk_count'), calls('desk_count')].flatMap(({ tool_calls }) => tool_calls ?? []) },
    calls('desk_fail'),
    calls('desk_end'),
    calls('desk_count'),
    calls('kill_keeper'),
    calls('desk_structured'),
    calls('desk_count'),
    { content: 'Done.' },
  ])
  expect(await desk.run()).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const results = await desk.events('ACTION_RESULT')
  const seen = results.map((event) => [event.tool_name, event.exit_code, event.observation_content])
  expect(seen.slice(0, 2).sort()).toEqual([
    ['desk_count', 0, 'call 1'],
    ['desk_count', 0, 'call 2'],
  ])
  expect(seen.slice(2)).toEqual([
    ['desk_fail', 1, '[exit code 1]\nno such file'],
    ['desk_end', 9, '[exit code 9]\n[stderr]\nError: desk ended (exit code 3).\nout of paper\n'],
    ['desk_count', 0, `${RESTARTED}call 1`],
    ['kill_keeper', 0, ''],
    ['desk_structured', 0, `${RESTARTED}{"seven":7}`],
    ['desk_count', 0, 'call 1'],
  ])
  const { servers, keeper } = await processesOf(desk)
  expect(servers).toHaveLength(3) // the two at once have started one
  for (const pid of [...servers, keeper]) await waitForExit(pid)
})

test('delta mcp call prints the result and ends with 1 for a failure, 2 for arguments that are none, 9 for a change', async () => {
  const file = await imported([process.execPath, fixtures.mcpServer], 'desk')
  const { path: cwd, write } = await temporaryWorkspace({ 'desk.yaml': file }, { onCleanup: onTestFinished })
  const call = (tool: string, input: string, ...flags: string[]) =>
    delta(['mcp', 'call', 'desk.yaml', tool, ...flags], { cwd, input })
  expect(await call('add', '{"a":2}', '--text')).toMatchObject({ exitCode: 0, stdout: '3\n', stderr: '' })
  expect(await call('fail', '')).toMatchObject({
    exitCode: 1,
    stdout: '{"content":[{"type":"text","text":"no such file"}],"isError":true}\n',
  })
  expect(await call('add', '[2]')).toMatchObject({
    exitCode: 2,
    stderr: `Error: Stdin must be the arguments as one JSON object, as in <<< '{"a":2,"b":3}'.\n`,
  })
  await write('tools.json', JSON.stringify({ add: { description: 'Adds more.' } }))
  expect(await call('add', '{"a":2}')).toMatchObject({
    exitCode: 9,
    stdout: '',
    stderr:
      'Error: desk_add changed since it was imported (description). Review it: delta mcp import desk.yaml --check.\n',
  })
  const review = (flag: string) => delta(['mcp', 'import', 'desk.yaml', flag], { cwd })
  expect(await delta(['mcp', 'import', 'desk.yaml'], { cwd })).toMatchObject({
    exitCode: 2,
    stderr:
      'Error: desk.yaml is the file of a server already. Add --check or --update: delta mcp import desk.yaml --check\n',
  })
  const shown = 'desk_add changed (description)\n  Adds{+ more+}.\n'
  expect(await review('--check')).toEqual({
    exitCode: 3,
    signal: null,
    stdout: shown,
    stderr: 'If that is what you want: delta mcp import desk.yaml --update\n',
  })
  expect(await review('--update')).toMatchObject({
    exitCode: 0,
    stdout: shown,
    stderr: 'desk.yaml: 1 changed, 0 added, 0 removed\n',
  })
  expect(await call('add', '{"a":2}', '--text')).toMatchObject({ exitCode: 0, stdout: '3\n' })
})

test('a script of a server is named from where the file of the server lies', async () => {
  const { path: cwd } = await temporaryWorkspace(
    { 'clerk/server.mjs': `import ${JSON.stringify(fixtures.mcpServer)}\n` },
    { onCleanup: onTestFinished },
  )
  const command = ['mcp', 'import', '-o', 'clerk/desk.yaml', '--', process.execPath, 'clerk/server.mjs']
  expect(await delta(command, { cwd })).toMatchObject({
    exitCode: 0,
    stderr:
      "Note: clerk/server.mjs is looked for in the workspace of each run. Write '${TOOL_HOME}/server.mjs' if it belongs to the file.\n",
  })
})
