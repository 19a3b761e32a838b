import { Context } from '@deepseek-ai/cordis'
import { SystemPrompt } from '@deepseek-ai/dsh-system-prompt'
import { ToolRuntime } from '@deepseek-ai/dsh-tools'
import { fixtures, temporaryWorkspace, waitForExit } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import * as plugin from '../src/dsh.js'
import { waitStarted } from './tools.js'

const TOOLS = {
  'tools/text.yaml': `tools:
  - { name: print, description: Print a text, exec: 'printf %s \${text}' }
  - { name: fail, shell: 'echo oops >&2; exit 3' }
  - { name: home, shell: 'cat \${AGENT_HOME}/note.txt; pwd' }
  - { name: hang, exec: sleep 600, timeout_ms: 100 }
`,
  'tools/wipe.yml': 'name: wipe\nexec: echo wiped\neffects: { destructive: true }\n',
  'tools/fetch.yaml': 'name: fetch\nexec: echo fetched\neffects: { network: true }\n',
  'tools/wait.yaml': `name: wait\ncommand: ['${fixtures.sleep}', '600', started]\n`,
  'tools/note.txt': 'From beside the tools.\n',
}

/** A harness without a model: its registry, with the plug-in as a profile loads it. */
async function harness(config: Record<string, unknown> = {}, files: Record<string, string> = TOOLS) {
  const directory = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const ctx = new Context()
  onTestFinished(() => ctx.fiber.dispose())
  await ctx.plugin(SystemPrompt)
  await ctx.plugin(ToolRuntime)
  const settings = { tools: `${directory.path}/tools`, cwd: directory.path, ...config }
  const fiber = await ctx.plugin(plugin as never, settings as never)
  const call = (name: string, args: unknown, signal = new AbortController().signal) =>
    ctx.tools.execute({ callId: `call-${name}` as never, name, arguments: args, signal })
  return { ctx, fiber, call, directory }
}

test('a directory of YAML tools is in the registry of the harness, and each call ends as the harness knows it', async () => {
  const { ctx, call, directory } = await harness()
  expect(
    ctx.tools
      .schemas()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['fail', 'fetch', 'hang', 'home', 'print', 'wait', 'wipe'])
  expect(ctx.tools.schemas().find(({ name }) => name === 'print')).toMatchObject({
    description: 'Print a text',
    parameters: { type: 'object', required: ['text'], additionalProperties: false },
  })
  const text = `it's; $(id)`
  expect(await call('print', { text })).toMatchObject({
    isError: false,
    value: text,
    content: [{ type: 'text', text }],
  })
  expect(await call('home', {})).toMatchObject({ value: `From beside the tools.\n${directory.path}\n` })
  for (const [name, args, code, message] of [
    ['fail', {}, 'COMMAND_FAILED', /^\[exit code 3\]\n\[stderr\]\noops\n$/],
    [
      'print',
      {},
      'COMMAND_REFUSED',
      /^ERROR: the arguments of "print" were not accepted\. Nothing was run\./,
    ],
    ['print', { text: [1] }, 'COMMAND_REFUSED', /not accepted/],
    ['hang', {}, 'TOOL_TIMEOUT', /^\[timed out after /],
  ] as const)
    expect(await call(name, args)).toMatchObject({
      isError: true,
      error: { message: expect.stringMatching(message), info: { name: 'CommandError', code } },
    })
})

test('what the policy puts to a person is asked by the harness, which denies it where nobody can be asked', async () => {
  const { call } = await harness({ policy: { allow_destructive: false } })
  expect(await call('wipe', {})).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringContaining('The policy asks before wipe runs.') }],
  })
  const open = await harness()
  expect(await open.call('wipe', {})).toMatchObject({ isError: false, value: 'wiped\n' })
  const closed = await harness({ policy: { allow_network: false } })
  expect(await closed.call('fetch', {})).toMatchObject({
    error: { info: { code: 'COMMAND_BLOCKED' } },
  })
})

test('an abort ends the command, and an unloaded plug-in takes its tools along', async () => {
  const { ctx, fiber, call, directory } = await harness()
  const stop = new AbortController()
  const result = call('wait', {}, stop.signal)
  const pid = await waitStarted(directory)
  stop.abort()
  expect(await result).toMatchObject({ isError: true, error: { info: { code: 'ABORTED' } } })
  await waitForExit(pid)
  await fiber.dispose()
  expect(ctx.tools.schemas()).toEqual([])
})

test('a configuration or a file that cannot be used is named', async () => {
  const about = (config: unknown) => () => plugin.apply(new Context(), config)
  expect(about({ tool: 'x' })).toThrow(
    /^delta-tools: [\s\S]*at tools\nWrite, for example: config: \{ tools: \.\/tools/,
  )
  expect(about({ tools: '/none' })).toThrow('delta-tools: /none does not exist.')
  const { path } = await temporaryWorkspace({ 'context.yaml': 'sources: []' }, { onCleanup: onTestFinished })
  expect(about({ tools: path })).toThrow(
    `delta-tools: ${path}/context.yaml is neither a tool (name, exec) nor a list of tools (tools).`,
  )
})
