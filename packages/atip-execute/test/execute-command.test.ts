import { describe, expect, test } from 'vitest'
import { ExecutionError, executeCommand } from '../src/index.js'

describe('executeCommand', () => {
  test('captures both streams and the exit code, which is 128 + n for signal n', async () => {
    expect(await executeCommand(['sh', '-c', 'echo out; echo err >&2; exit 42'])).toEqual({
      success: false,
      exitCode: 42,
      stdout: 'out\n',
      stderr: 'err\n',
      duration: expect.any(Number),
      truncated: false,
      timedOut: false,
      command: ['sh', '-c', 'echo out; echo err >&2; exit 42'],
      toolCallId: '',
      toolName: '',
    })
    expect((await executeCommand(['sh', '-c', 'kill -9 $$'])).exitCode).toBe(137)
  })

  test('runs no shell unless asked', async () => {
    expect((await executeCommand(['echo', '$HOME; id'])).stdout).toBe('$HOME; id\n')
    expect((await executeCommand(['echo', 'a', '|', 'tr', 'a', 'b'], { shell: true })).stdout).toBe('b\n')
    expect((await executeCommand(['echo', '|'], { shell: '' })).stdout).toBe('|\n')
    expect((await executeCommand(['echo $BASH_VERSION'], { shell: 'bash' })).stdout).not.toBe('\n')
  })

  test('one limit holds for both streams together', async () => {
    const flood = 'yes | head -c 5000; yes | head -c 5000 >&2'
    const result = await executeCommand(['sh', '-c', flood], { maxOutputSize: 1000 })
    expect(result).toMatchObject({ truncated: true, success: true })
    expect(result.stdout.length + result.stderr.length).toBe(1000)
    expect(result.stderr).toHaveLength(500)
  })

  test('a limit is never raised above ten megabytes, and a cut never halves a character', async () => {
    const result = await executeCommand(['printf', 'äöü'], { maxOutputSize: 3 })
    expect(result).toMatchObject({ stdout: 'ä', truncated: true })

    const flood = await executeCommand(['sh', '-c', 'yes | head -c 11000000'], { maxOutputSize: 99_000_000 })
    expect(flood).toMatchObject({ truncated: true, success: true })
    expect(flood.stdout).toHaveLength(10_485_760)
  })

  test('a limit of time beyond the longest, or of 0, is the longest', async () => {
    for (const timeout of [1e12, 0]) {
      expect(await executeCommand(['sh', '-c', 'sleep 0.05; echo done'], { timeout })).toMatchObject({
        stdout: 'done\n',
        timedOut: false,
      })
    }
  })

  test('a command that cannot start is an ExecutionError', async () => {
    const error = await executeCommand(['no-such-command-anywhere']).catch((caught) => caught)
    expect(error).toBeInstanceOf(ExecutionError)
    expect(error).toMatchObject({ command: ['no-such-command-anywhere'], code: 'EXECUTION_FAILED' })
  })

  test('the directory and added variables reach it, the engine keys of this process do not', async () => {
    process.env.OPENAI_API_KEY = 'sk-not-for-children'
    try {
      const { stdout } = await executeCommand(['sh', '-c', 'pwd; echo $ADDED; echo [$OPENAI_API_KEY]'], {
        cwd: '/',
        env: { ADDED: 'yes' },
      })
      expect(stdout).toBe('/\nyes\n[]\n')
    } finally {
      delete process.env.OPENAI_API_KEY
    }
  })

  test('streaming hands out chunks as they come, each stream to its own listener', async () => {
    const seen = { out: '', err: '' }
    const result = await executeCommand(['sh', '-c', 'echo a; echo b >&2'], {
      streaming: true,
      onStdout: (data) => {
        seen.out += data
      },
      onStderr: (data) => {
        seen.err += data
      },
    })
    expect(seen).toEqual({ out: 'a\n', err: 'b\n' })
    expect(result).toMatchObject({ stdout: 'a\n', stderr: 'b\n' })
  })
})
