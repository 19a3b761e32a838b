import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadAtip } from '@delta/atip'
import { temporaryWorkspace, tryLimits, waitForExit, waitForFile } from '@delta/testkit'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  ArgumentValidationError,
  type AtipTool,
  type BatchOptions,
  type ConfirmationContext,
  createExecutor,
  type ExecutorConfig,
  InsufficientTrustError,
  InteractiveNotSupportedError,
  isAtipExecuteError,
  PolicyViolationError,
  parseToolCall,
  RequiresConfirmationError,
  UnknownCommandError,
} from '../src/index.js'
import { call, echo } from './helpers.js'

const program = fileURLToPath(new URL('fixtures/notes', import.meta.url))
let directory: string
let notes: AtipTool
let env: { NOTES: string }

beforeEach(async () => {
  directory = (await temporaryWorkspace({}, { onCleanup: onTestFinished })).path
  env = { NOTES: join(directory, 'notes.txt') }
  notes = { ...(await loadAtip({ command: [program, '--agent'] })), binary: program }
})

function executor(policy?: ExecutorConfig['policy'], more: Partial<ExecutorConfig> = {}) {
  return createExecutor({ tools: [notes], execution: { env }, ...(policy && { policy }), ...more })
}

describe('a call', () => {
  test('goes from the response of a model to the result it reads', async () => {
    const response = {
      content: [
        {
          type: 'tool_use',
          id: 't1',
          name: 'notes_add',
          input: { text: '$(id); --force', tag: ['a', 'b'], stars: '5' },
        },
        { type: 'tool_use', id: 't2', name: 'notes_list', input: {} },
      ],
    }
    const { results } = await executor({}).executeBatch(parseToolCall('anthropic', response))
    expect(results.map(({ content }) => content)).toEqual(['', '$(id); --force --tag a --tag b --stars 5\n'])
    expect(results[1]?.raw).toMatchObject({
      toolCallId: 't2',
      toolName: 'notes_list',
      command: [program, 'list'],
    })
  })

  test('a command that fails is a result, not an error', async () => {
    expect(await executor().execute(call('notes_list'))).toMatchObject({
      success: false,
      content: expect.stringContaining('notes.txt'),
    })
  })

  test.each([
    ['notes_delete', UnknownCommandError, 'UNKNOWN_COMMAND'],
    ['notes_add', ArgumentValidationError, 'VALIDATION_FAILED'],
    ['notes_wipe', RequiresConfirmationError, 'REQUIRES_CONFIRMATION'],
    ['notes_ask', InteractiveNotSupportedError, 'INTERACTIVE_NOT_SUPPORTED'],
  ])('%s is refused before anything runs', async (name, type, code) => {
    const error = await executor({})
      .execute(call(name))
      .catch((caught) => caught)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ code, name: type.name })
    expect(isAtipExecuteError(error)).toBe(true)
    expect(existsSync(env.NOTES)).toBe(false)
  })

  test('too little trust says how much there is and how much is needed; what nobody can allow, every violation', async () => {
    const refused = (policy: ExecutorConfig['policy'], name: string, args = {}) =>
      executor(policy)
        .execute(call(name, args))
        .catch((caught) => caught)
    const trust = await refused({ minTrustLevel: 'native' }, 'notes_list')
    expect(trust).toBeInstanceOf(InsufficientTrustError)
    expect(trust).toMatchObject({ actual: 'org', required: 'native' })
    const error = await refused({ allowFilesystemWrite: false }, 'notes_add', { text: 'x' })
    expect(error).toBeInstanceOf(PolicyViolationError)
    expect(error.violations.map(({ code }: { code: string }) => code)).toEqual(['FILESYSTEM_WRITE_BLOCKED'])
  })

  test("a command's own limit counts, unless the program's is shorter", async () => {
    await expect(executor().execute(call('notes_hang'))).rejects.toMatchObject({
      code: 'TIMEOUT',
      timeout: 200,
    })
    const hang = { description: 'Never end', effects: { duration: { timeout: '1h' } } }
    const patient = { ...notes, commands: { hang } }
    const attempt = (timeout: number) =>
      createExecutor({ tools: [patient], execution: { env, timeout } })
        .execute(call('notes_hang'))
        .catch((caught) => caught)
    await rm(env.NOTES, { force: true })
    const [error, timeout] = await tryLimits(attempt, () => existsSync(env.NOTES))
    expect(error).toMatchObject({ code: 'TIMEOUT', timeout, stdout: 'started\n' })
  })

  test('a limit of 0 in the metadata, or of the program, lifts none', async () => {
    const limited = (own: string, timeout: number) =>
      createExecutor({ tools: [shellWithin(own)], execution: { timeout } }).execute(SLEEP)
    await expect(limited('0s', 150)).rejects.toMatchObject({ code: 'TIMEOUT', timeout: 150 })
    await expect(limited('150ms', 0)).rejects.toMatchObject({ code: 'TIMEOUT', timeout: 150 })
  })

  test('validation can be skipped by a program that made the call itself', async () => {
    const unchecked = createExecutor({
      tools: [echo({ it: { description: 'x', arguments: [{ name: 'n', type: 'integer' }] } })],
      execution: { skipValidation: true },
    })
    expect((await unchecked.execute(call('echo_it', { n: 'seven' }))).content).toBe('it seven\n')
  })
})

describe('an AbortSignal', () => {
  test('ends a running command with everything it started', async () => {
    const stop = new AbortController()
    const script = `trap '' TERM; sleep 300 & echo $! $$ > ${env.NOTES}; wait; wait`
    const running = createExecutor({ tools: [shellWithin('1h')] })
      .execute(call('echo_-c', { script }), { signal: stop.signal })
      .catch((caught) => caught)
    const pids = (await waitForFile(env.NOTES, /\d+ \d+\n/)).trim().split(' ')
    stop.abort(new Error('enough'))
    const error = await running
    expect(error).toMatchObject({ code: 'ABORTED', message: 'sh was stopped.', cause: { message: 'enough' } })
    expect(isAtipExecuteError(error)).toBe(true)
    for (const pid of pids) await waitForExit(Number(pid))
  })

  test('that is aborted already starts nothing, and no other call of a batch', async () => {
    const add = call('notes_add', { text: 'x' })
    const { results } = await executor().executeBatch([add, add], { signal: AbortSignal.abort() })
    expect(results.map(({ content }) => content)).toEqual([`Error: ${program} was stopped.`])
    expect(existsSync(env.NOTES)).toBe(false)
  })
})

describe('confirmation', () => {
  test('the person sees the whole command line, its effects and the reasons', async () => {
    const seen: ConfirmationContext[] = []
    const confirmationHandler = async (context: ConfirmationContext) => seen.push(context) > 0
    const { content } = await executor({ confirmationHandler }).execute(call('notes_wipe', { extra: 1 }))
    expect(content).toBe('wiped\n')
    expect(seen).toEqual([
      {
        toolName: 'notes_wipe',
        command: [program, 'wipe'],
        arguments: { extra: 1 },
        reasons: ['destructive'],
        effects: { destructive: true, reversible: false, network: false },
        trust: { source: 'org' },
      },
    ])
  })

  test.each([false, 'no', 'yes', 1])(
    'an answer that is not true is a refusal, and nothing runs: %j',
    async (said) => {
      await executor().execute(call('notes_add', { text: 'keep me' }))
      const careless = executor({ confirmationHandler: async () => said as never })
      const error = await careless.execute(call('notes_wipe')).catch((caught) => caught)
      expect(error).toBeInstanceOf(PolicyViolationError)
      expect(await readFile(env.NOTES, 'utf8')).toBe('keep me\n')
    },
  )
})

describe('several calls', () => {
  const add = (text: string) => call('notes_add', { text })

  test('run one after the other, and an error is a result among the others', async () => {
    const batch = await executor().executeBatch([
      add('one'),
      call('notes_nothing'),
      add('two'),
      call('notes_list'),
    ])
    expect(batch.results.map(({ content }) => content)).toEqual([
      '',
      'Error: There is no command "notes_nothing". Nothing was run.',
      '',
      'one\ntwo\n',
    ])
    expect(batch).toMatchObject({ successCount: 3, failureCount: 1, totalDuration: expect.any(Number) })
  })

  test('stop at the first failure if asked', async () => {
    const batch = await executor().executeBatch([add('one'), add(''), call('notes_add'), add('two')], {
      continueOnError: false,
    })
    expect(batch.results).toHaveLength(3)
    expect(await readFile(env.NOTES, 'utf8')).toBe('one\n\n')
  })

  test('run side by side if asked, and the results keep the order', async () => {
    const meet = echo(
      {
        it: {
          description: 'Waits for the other',
          arguments: [
            { name: 'own', type: 'string' },
            { name: 'other', type: 'string' },
          ],
        },
      },
      { binary: fileURLToPath(new URL('fixtures/meet', import.meta.url)) },
    )
    const pair = createExecutor({ tools: [meet], execution: { cwd: directory, timeout: 20_000 } })
    const { results, successCount } = await pair.executeBatch(
      [call('echo_it', { own: 'a', other: 'b' }), call('echo_it', { own: 'b', other: 'a' })],
      { parallel: true, maxConcurrency: 2 },
    )
    expect(results.map(({ content }) => content)).toEqual(['a met b\n', 'b met a\n'])
    expect(successCount).toBe(2)
  })

  /** How many people are asked at the same time, when nobody answers before all who can have been asked. */
  async function mostAtOnce(options: BatchOptions): Promise<number> {
    let [now, most] = [0, 0]
    const confirmationHandler = async () => {
      most = Math.max(most, ++now)
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
      now--
      return false
    }
    const tool = echo({ erase: { description: 'Erase', effects: { destructive: true } } })
    const asking = createExecutor({ tools: [tool], policy: { confirmationHandler } })
    const calls = Array.from({ length: 9 }, () => call('echo_erase'))
    expect((await asking.executeBatch(calls, options)).failureCount).toBe(9)
    return most
  }

  test('one at a time unless asked, four by default, and never more than allowed', async () => {
    expect(await mostAtOnce({})).toBe(1)
    expect(await mostAtOnce({ maxConcurrency: 3 })).toBe(1)
    expect(await mostAtOnce({ parallel: true })).toBe(4)
    expect(await mostAtOnce({ parallel: true, maxConcurrency: 2 })).toBe(2)
    expect(await mostAtOnce({ parallel: true, maxConcurrency: 0 })).toBe(1)
  })
})

describe('looking without running', () => {
  test('validate, mapCommand, getMetadata and checkPolicy', () => {
    const look = executor({})
    expect(look.validate(call('notes_add', { text: 'x' }))).toMatchObject({
      valid: true,
      normalizedArgs: { text: 'x' },
    })
    expect(look.validate(call('nothing')).errors).toMatchObject([{ code: 'UNKNOWN_COMMAND' }])
    expect(look.mapCommand('notes_list')?.path).toEqual(['list'])
    expect(look.mapCommand('notes')).toBeUndefined()
    expect(look.getMetadata('notes_list')?.description).toBe('Print all notes')
    expect(() => look.checkPolicy(call('nothing'))).toThrow(UnknownCommandError)
  })
})

const SLEEP = call('echo_-c', { script: 'sleep 300' })

/** A shell that declares a limit of its own. */
function shellWithin(timeout: string): AtipTool {
  const script = { name: 'script', type: 'string' as const }
  const run = { description: 'Run a script', arguments: [script], effects: { duration: { timeout } } }
  return echo({ '-c': run }, { binary: 'sh' })
}
