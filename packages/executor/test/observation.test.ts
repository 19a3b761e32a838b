import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { tryLimits } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { defineTool, interruptedResult, removeInlined, type ToolResult } from '../src/index.js'
import { call, workspace } from './workspace.js'

/** Runs a shell script as a tool and gives what the model reads. */
async function observe(script: string, settings: object = {}): Promise<ToolResult & { path: string }> {
  const { path } = await workspace()
  const context = { cwd: path, outputPrefix: join(path, 'record') }
  return { ...(await call({ command: ['sh', '-c', script], ...settings }, {}, context)), path }
}

describe('A plain success is stdout and nothing else', () => {
  test.each([
    ['text', 'echo hello', 'hello\n'],
    ['text without a last newline', 'printf hello', 'hello'],
    ['nothing', 'true', ''],
    ['several scripts', 'printf "é 漢 🙂\\r\\n\\tx"', 'é 漢 🙂\r\n\tx'],
  ])('%s', async (_what, script, observation) => {
    expect(await observe(script)).toMatchObject({ status: 'SUCCESS', observation })
  })
})

describe('Otherwise the status comes first, and stderr last', () => {
  test.each([
    ['a success that complains', 'echo out; echo careful >&2', 'SUCCESS', 'out\n[stderr]\ncareful\n'],
    ['only stderr', 'echo careful >&2', 'SUCCESS', '[stderr]\ncareful\n'],
    ['a failure', 'echo out; echo err >&2; exit 3', 'FAILED', '[exit code 3]\nout\n[stderr]\nerr\n'],
    ['a silent failure', 'exit 1', 'FAILED', '[exit code 1]\n'],
    [
      'stdout without a last newline',
      'printf out; echo err >&2; exit 3',
      'FAILED',
      '[exit code 3]\nout\n[stderr]\nerr\n',
    ],
    ['a command that was killed', 'echo out; kill -9 $$', 'FAILED', '[killed by SIGKILL]\nout\n'],
  ])('%s', async (_what, script, status, observation) => {
    expect(await observe(script)).toMatchObject({ status, observation })
  })

  test('a timeout says the limit, not what it took to end a command that does not want to, and shows what was printed', async () => {
    const begun = join((await workspace()).path, 'begun')
    const command = ['sh', '-c', 'trap "" TERM; echo begun; : > "$0"; while :; do sleep 1; done', begun]
    const [{ status, observation }, limitMs] = await tryLimits(
      (timeout_ms) => observe('', { command, timeout_ms }),
      () => existsSync(begun),
    )
    expect(status).toBe('TIMEOUT')
    expect(observation).toBe(
      `[timed out after ${limitMs} ms (timeout_ms); its process group was ended]\nbegun\n`,
    )
  })

  test('a command that could not start', async () => {
    const { status, observation } = await observe('', { command: ['no-such-program'] })
    expect(status).toBe('ERROR')
    expect(observation).toBe(
      'ERROR: the command did not start. "no-such-program" is not on the PATH. Install it, write its path, or write shell: if the shell does it itself, as with cd.',
    )
  })
})

describe('A long output', () => {
  const count = 'i=0; while [ $i -lt 5000 ]; do echo "line $i"; i=$((i+1)); done'

  test('shows both ends, and says where the rest is', async () => {
    const { observation, path, stdout } = await observe(count, { output: { max_chars: 40 } })
    expect(observation).toBe(
      'line 0\nline 1\nline 2\n[48850 bytes left out here; all 48890 bytes are in record.stdout]\nline 4998\nline 4999\n',
    )
    expect(stdout).toEqual({ bytes: 48_890, path: join(path, 'record.stdout') })
    expect(readFileSync(join(path, 'record.stdout'), 'utf8').split('\n')).toHaveLength(5001)
  })

  test.each([
    [
      'head',
      'line 0\nline 1\nline 2\nlin\n[48866 bytes left out here; all 48890 bytes are in record.stdout]\n',
    ],
    [
      'tail',
      '[48866 bytes left out here; all 48890 bytes are in record.stdout]\n997\nline 4998\nline 4999\n',
    ],
  ])('can be kept by its %s', async (keep, observation) => {
    expect((await observe(count, { output: { max_chars: 24, keep } })).observation).toBe(observation)
  })

  test('leaves a third of the room to stderr', async () => {
    const script = `printf '%0100d' 0; printf '%0100d' 1 >&2`
    const { observation } = await observe(script, { output: { max_chars: 30, keep: 'head' } })
    expect(observation).toBe(
      `${'0'.repeat(20)}\n[80 bytes left out here]\n[stderr]\n${'0'.repeat(10)}\n[90 bytes left out here]\n`,
    )
  })

  test('is not cut within a character', async () => {
    const { observation } = await observe(`printf '🙂🙂🙂🙂🙂🙂'`, { output: { max_chars: 6 } })
    expect(observation).toBe('🙂\n[16 bytes left out here]\n🙂')
  })

  test('is whole up to max_chars, however many these are', async () => {
    const { observation } = await observe(`printf '€%.0s' $(seq 60000)`, { output: { max_chars: 60_000 } })
    expect(observation).toBe('€'.repeat(60_000))
  })

  test('of many megabytes stays within max_chars', async () => {
    const { observation } = await observe('head -c 50000000 /dev/zero | tr "\\0" x')
    expect(observation.length).toBeLessThan(30_200)
    expect(observation).toContain(
      '\n[49970000 bytes left out here; all 50000000 bytes are in record.stdout]\n',
    )
  })
})

describe('What no model and no terminal should get raw', () => {
  test('control sequences are shown as text', async () => {
    const { observation } = await observe(String.raw`printf '\033[31mred\033[0m\007 50%%\r100%%\n\302\233'`)
    expect(observation).toBe('\\x1b[31mred\\x1b[0m\\x07 50%\\x0d100%\n\\x9b')
  })

  test('bytes that are no UTF-8 are replaced, and the raw ones kept', async () => {
    const { observation, stdout, path } = await observe(String.raw`printf 'a\377b'`)
    expect(observation).toBe('a\ufffdb\n[not UTF-8 text; all 3 bytes are in record.stdout]\n')
    expect(stdout).toEqual({ bytes: 3, path: join(path, 'record.stdout') })
    expect(readFileSync(join(path, 'record.stdout'))).toEqual(Buffer.from([0x61, 0xff, 0x62]))
  })
})

const tool = defineTool({ name: 'deploy', exec: 'deploy', output: { max_chars: 60 } })
const unknown =
  'interrupted: the engine stopped while this command ran, so its outcome is unknown; it may have done all, part or none of its work. Check before running it again.'

test('a call whose engine died is answered with what it had printed', async () => {
  const { path, files } = await workspace({
    'record.stdout': 'uploading key-123\n',
    'record.stderr': 'slow\n',
  })
  const outputPrefix = join(path, 'record')
  const result = interruptedResult(tool, {
    cwd: path,
    outputPrefix,
    credentials: { DELTA_API_KEY: 'key-123' },
  })

  expect(result).toEqual({
    status: 'INTERRUPTED',
    exitCode: null,
    signal: null,
    observation: `[${unknown} What it had printed follows]\nuploading [REDACTED]\n[stderr]\nslow\n`,
    durationMs: 0,
    stdout: { bytes: 18, text: 'uploading [REDACTED]\n' },
    stderr: { bytes: 5, text: 'slow\n' },
  })
  expect(await files()).toEqual(['record.stderr', 'record.stdout']) // a second crash loses nothing
  removeInlined(outputPrefix, result)
  expect(await files()).toEqual([])
})

test('of a call without output nobody says that it printed nothing: a power cut may have taken what it did', async () => {
  const { path } = await workspace()
  const context = { cwd: path, outputPrefix: join(path, 'record') }
  const result = interruptedResult(tool, context)
  expect(result.observation).toBe(`[${unknown} No output of it is left]\n`)
  expect(interruptedResult(tool, { ...context, wasRunning: true }).observation).toContain(
    'all, part or none of its work. It was still running and has been ended. Check before running it again.',
  )
})

test('a long output is cut, and its file kept', async () => {
  const { path, has } = await workspace({ 'record.stdout': `${'line\n'.repeat(20_000)}` })
  const outputPrefix = join(path, 'record')
  const result = interruptedResult(tool, { cwd: path, outputPrefix })
  removeInlined(outputPrefix, result)
  expect(result.stdout).toEqual({ bytes: 100_000, path: `${outputPrefix}.stdout` })
  expect(result.observation).toContain('[99940 bytes left out here; all 100000 bytes are in record.stdout]')
  expect(has('record.stdout')).toBe(true)
})
