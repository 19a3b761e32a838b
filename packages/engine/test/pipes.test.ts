import { existsSync, readdirSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TemporaryAgentOptions } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, hooks, scene } from './run.js'

const CALL = calls('work')
const TURNS = [CALL, { content: 'Done: {{last_observation}}' }]

/** In another process: one that waits for a pipe is to be ended from outside. */
async function runOutside(options: TemporaryAgentOptions) {
  const { start, workspace, resume } = await scene({ turns: TURNS, ...options })
  const engine = start()
  onTestFinished(() => engine.kill('SIGKILL'))
  const result = await engine.result
  const [runId = ''] = readdirSync(join(workspace.path, '.delta')).filter((name) => name.startsWith('2'))
  return { result, resume, workspace, journal: join(workspace.path, '.delta', runId, 'journal.jsonl') }
}

const WAYS = [
  ['a pipe', 'mkfifo "$OUT"'],
  ['a device', 'ln -s /dev/zero "$OUT"'],
  ['a directory', 'mkdir "$OUT"'],
] as const

test.each(WAYS)(
  '%s that a hook puts in the place of its output fails the hook, one that a tool puts among the secrets blocks nothing, and the run continues',
  async (_, make) => {
    const script = (file: string) => `OUT=$DELTA_HOOK_IO_PATH/output/${file}; ${make}`
    const { result, workspace, journal } = await runOutside({
      tools: [
        {
          name: 'work',
          shell: `echo worked | tee -a log; mkdir "$RUN_DIR/secrets"; OUT=$RUN_DIR/secrets/x; ${make}`,
        },
      ],
      files: hooks({
        on_iteration_start: script('control.json'),
        pre_llm_request: script('final_payload.json'),
        post_llm_response: script('payload_override.dat'),
        post_tool_execution: script('payload_override.dat'),
      }),
    })
    expect(result.stderr).toBe('')
    expect(result.stdout).toBe('begun\nCOMPLETED\n')
    expect(await workspace.read('log')).toBe('worked\n')
    const failed = (await readFile(journal, 'utf8')).match(
      /"hook_name":"\w+","status":"FAILED".*?"error_message":"[^"]+/g,
    )
    expect(
      failed?.map((line) =>
        line.replace(/^"hook_name":"(\w+)".*"error_message":"(.*?): .* only a file is read.*/, '$1: $2'),
      ),
    ).toEqual(
      expect.arrayContaining([
        'on_iteration_start: on_iteration_start hook wrote an output/control.json that cannot be read',
        'pre_llm_request: pre_llm_request hook wrote an output/final_payload.json that cannot be read',
        'post_llm_response: post_llm_response hook wrote an output/payload_override.dat that cannot be read',
        'post_tool_execution: post_tool_execution hook wrote an output/payload_override.dat that cannot be read',
      ]),
    )
  },
)

test('a guard whose control.json is a pipe blocks the call', async () => {
  const { workspace, result } = await runOutside({
    tools: [{ name: 'work', shell: 'touch worked' }],
    files: hooks({ pre_tool_execution: 'mkfifo "$DELTA_HOOK_IO_PATH/output/control.json"' }),
  })
  expect(result.stdout).toBe('begun\nCOMPLETED\n')
  expect(workspace.has('worked')).toBe(false)
})

test.each([
  ['pipe', 'mkfifo "$JOURNAL_PATH"', 'ESPIPE'],
  ['device', 'ln -s /dev/zero "$JOURNAL_PATH"', 'ENODEV'],
])(
  'a %s that a command puts in the place of the journal is named, and the run continues without it',
  async (what, make, code) => {
    const { result, resume, journal } = await runOutside({
      tools: [{ name: 'work', shell: `mv "$JOURNAL_PATH" "$JOURNAL_PATH.x"; ${make}` }],
    })
    expect(result.exitCode).toBe(1)
    expect(result.stderr).toContain(`${journal}: Could not be read: it is a ${what}, not a file (${code}).`)
    expect(existsSync(`${journal}.x`)).toBe(true)
    await rm(journal)
    await rename(`${journal}.x`, journal)
    expect((await resume()).status).toBe('COMPLETED')
  },
)
