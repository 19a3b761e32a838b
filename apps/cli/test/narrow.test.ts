import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
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
  'on a narrow screen a row takes several lines, the cells of each below their header, and no id is broken',
  async () => {
    const { workspace } = await run()
    const list = ['list-runs', '-w', workspace.path]
    expect(await onScreen(60, list)).toEqual([
      'RUN',
      '  STATUS     AGE  ITERATIONS  AGENT       MODEL   TOKENS',
      '  TASK',
      'the-first-one',
      expect.stringMatching(/^ {2}COMPLETED {2}\d+s {3}1 {11}test-agent {2}script {2}0$/),
      '  Summarise what the text files here say about rain, snow',
      '  and…',
    ])
    expect(await onScreen(40, list)).toEqual([
      'RUN',
      '  STATUS     AGE  ITERATIONS  AGENT',
      '  MODEL   TOKENS',
      '  TASK',
      'the-first-one',
      expect.stringMatching(/^ {2}COMPLETED {2}\d+s {3}1 {11}test-agent$/),
      '  script  0',
      '  Summarise what the text files here say',
      '  about rain, snow and…',
    ])
    await workspace.remove()
  },
)

test.skipIf(!hasTerminal)(
  'config --show-origin breaks no line of a pipe, and every line for a screen',
  async () => {
    const { agent } = await run()
    const args = ['config', '--agent', agent.path, '--show-origin']
    const piped = (await delta(args)).stdout
    const lines = await onScreen(50, args)
    expect(Math.max(...piped.split('\n').map((line) => line.length))).toBeGreaterThan(50)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(50)
    expect(lines.join('').replaceAll(/\s/g, '')).toBe(piped.replaceAll(/\s/g, ''))
  },
)

test.skipIf(!hasTerminal)(
  'on a screen the YAML of config and tool expand is folded between words, and means the same; a pipe gets it whole',
  async () => {
    const description = 'Says what it is given, word for word, and nothing else besides, ever.'
    const agent = await temporaryAgent({ tools: [{ name: 'say', description, exec: 'echo ${text}' }] })
    for (const args of [
      ['config', '--agent', agent.path],
      ['tool', 'expand', agent.path],
    ]) {
      const lines = await onScreen(50, args)
      const start = lines.findIndex((line) => line.includes('description:'))
      expect(lines.slice(start, start + 3).join('\n')).toMatch(/: >-\n +Says .*\n +\S.*ever\.$/)
      expect(Math.max(...lines.slice(start, start + 3).map((line) => line.length))).toBeLessThanOrEqual(50)
      const { stdout } = await delta(args)
      expect(stdout).toContain(`description: ${description}\n`)
      expect(parse(lines.join('\n'))).toEqual(parse(stdout))
    }
    await agent.remove()
  },
)
