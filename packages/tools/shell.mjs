#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { numberOf, Refusal, runTool, textOf } from './lib/call.mjs'

/** Milliseconds between TERM and KILL. */
const GRACE_MS = 2000
const LONGEST_MS = 3_600_000

await runTool(async (args) => {
  const command = textOf(args, 'command')
  const timeoutMs = numberOf(args, 'timeout_ms', { least: 1, otherwise: 120_000 })
  if (timeoutMs > LONGEST_MS) throw new Refusal(`"timeout_ms" is at most ${LONGEST_MS} (an hour).`)
  if (command.includes('\0')) throw new Refusal('"command" has a NUL character.')
  process.exitCode = await run(command, timeoutMs)
})

/**
 * The exit code of the command. It leads a process group of its own, which ends with the time, or with this program.
 *
 * @param {string} command
 * @param {number} timeoutMs
 * @returns {Promise<number>}
 */
function run(command, timeoutMs) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
    /** @param {NodeJS.Signals} signal */
    const send = (signal) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal)
      } catch {
        // it has ended
      }
    }
    const end = () => {
      send('SIGTERM')
      setTimeout(() => send('SIGKILL'), GRACE_MS).unref()
    }
    let isOver = false
    const timer = setTimeout(() => {
      isOver = true
      end()
    }, timeoutMs)
    for (const signal of /** @type {const} */ (['SIGTERM', 'SIGINT', 'SIGHUP'])) process.on(signal, end)
    child.on('error', (error) => {
      clearTimeout(timer)
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      reject(new Refusal(code === 'ENOENT' ? 'bash is not installed.' : error.message))
    })
    child.on('exit', (code, signal) => {
      clearTimeout(timer)
      if (isOver) {
        send('SIGKILL') // what ignores TERM, and is not bash
        process.stderr.write(`[timeout: ended after ${timeoutMs} ms]\n`)
      }
      resolve(isOver ? 124 : (code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
    })
  })
}
