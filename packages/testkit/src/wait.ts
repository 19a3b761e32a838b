import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { basename, dirname } from 'node:path'

/** What is waited for: a text it contains, a pattern it matches, or a test of the whole text. */
export type Condition = string | RegExp | ((text: string) => boolean)

export interface WaitOptions {
  /** When to give up, with an error that shows what was there. Default 120000. */
  readonly timeoutMs?: number
}

const POLL_MS = 100 // file systems exist on which watching reports nothing

/**
 * Resolves with a file's text once it exists and meets the condition. The wait ends on the change itself; only where
 * a file system reports no changes does it fall back to looking again.
 *
 * @param path - Its directory must exist.
 */
export async function waitForFile(
  path: string,
  condition: Condition = '',
  options: WaitOptions = {},
): Promise<string> {
  const read = () => readIfThere(path)
  return waitUntil(read, condition, options, `${path} to meet the condition`, (check) => {
    const watcher = watchFile(path, check)
    const timer = setInterval(check, POLL_MS)
    return () => {
      watcher?.close()
      clearInterval(timer)
    }
  })
}

/** Undefined where the system has no watcher left (`fs.inotify.max_user_instances`): one that looks again needs none. */
function watchFile(path: string, check: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name === null || name === basename(path)) check()
    })
    return watcher.on('error', () => watcher.close())
  } catch (error) {
    if (['EMFILE', 'ENOSPC'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

/**
 * Waits for `read()` to give a text that meets the condition. `subscribe` is told how to look again and how to give up,
 * and returns what ends the subscription.
 */
export async function waitUntil(
  read: () => string | undefined,
  condition: Condition,
  { timeoutMs = 120_000 }: WaitOptions,
  what: string,
  subscribe: (check: () => void, fail: (error: Error) => void) => () => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = subscribe(check, fail)
    const timer = setTimeout(() => {
      fail(new Error(`Waited ${timeoutMs} ms for ${what}. There is:\n${read() ?? '(nothing)'}`))
    }, timeoutMs)
    check()

    function check(): void {
      const text = read()
      if (text === undefined || !meets(text, condition)) return
      clearTimeout(timer)
      stop()
      resolve(text)
    }

    function fail(error: Error): void {
      clearTimeout(timer)
      stop()
      reject(error)
    }
  })
}

function meets(text: string, condition: Condition): boolean {
  if (typeof condition === 'string') return text.includes(condition)
  return condition instanceof RegExp ? condition.test(text) : condition(text)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
