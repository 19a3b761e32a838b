import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { hasTerminal, shellOnTerminal } from './terminal.js'

// Tables on a screen that is narrower than they are.

const TASK = 'Summarise what the text files here say about rain, snow and hail.'

/** The lines of a command's table on a screen of so many columns. */
async function onScreen(columns: number, args: string[]): Promise<string[]> {
  const shown = shellOnTerminal(`stty cols ${columns}; "$@"`, args)
  return (await shown.result).stdout.trimEnd().split('\r\n')
}

async function run() {
  const agent = await temporaryAgent({})
  const workspace = await temporaryWorkspace({})
  await delta([
    'run',
    '--agent',
    agent.path,
    '-m',
    TASK,
    '-w',
    workspace.path,
    '--run-id',
    'the-first-one',
    '-q',
  ])
  return { agent, workspace }
}

test.skipIf(!hasTerminal)(
  'list-runs breaks what is too long for the screen within its own column',
  async () => {
    const { workspace } = await run()
    const [header, ...lines] = await onScreen(97, ['list-runs', '-w', workspace.path])
    expect(header).toBe('RUN            STATUS     AGE  ITERATIONS  AGENT       MODEL   TOKENS  TASK')
    expect(lines).toEqual([
      expect.stringMatching(
        /^the-first-one {2}COMPLETED {2}\d+s {3}1 {11}test-agent {2}script {2}0 {7}Summarise what the text$/,
      ),
      `${' '.repeat(71)}files here say about rain,`,
      `${' '.repeat(71)}snow and…`,
    ])
    await workspace.remove()
  },
)

test.skipIf(!hasTerminal)(
  'on a narrow screen the last column stands below, on a narrower one a row becomes a paragraph; no id is broken',
  async () => {
    const { workspace } = await run()
    const list = ['list-runs', '-w', workspace.path]
    const task = {
      40: [
        '  TASK        Summarise what the text',
        '              files here say about rain,',
        '              snow and…',
      ],
      60: ['  TASK        Summarise what the text files here say about', '              rain, snow and…'],
    }
    for (const columns of [40, 60] as const)
      expect(await onScreen(columns, list)).toEqual([
        'the-first-one',
        '  STATUS      COMPLETED',
        expect.stringMatching(/^ {2}AGE {9}\d+s$/),
        '  ITERATIONS  1',
        '  AGENT       test-agent',
        '  MODEL       script',
        '  TOKENS      0',
        ...task[columns],
      ])
    expect(await onScreen(80, list)).toEqual([
      expect.stringMatching(/^RUN .* TOKENS$/),
      '  TASK',
      expect.stringMatching(/^the-first-one {2}COMPLETED .* 0$/),
      '  Summarise what the text files here say about rain, snow and…',
    ])
    await workspace.remove()
  },
)
