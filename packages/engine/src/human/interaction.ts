import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@delta/journal'
import type { Question } from '../outcome.js'

/** Leaves a question where a person or a program finds it: `request.json`, and an empty `response.txt` to fill in. */
export function leaveQuestion(directory: string, question: Question): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const request = {
    request_id: question.requestId,
    timestamp: new Date().toISOString(),
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
    ...(question.command === undefined ? {} : { command: question.command }),
  }
  replaceFile(join(directory, 'response.txt'), '')
  replaceFile(join(directory, 'request.json'), `${JSON.stringify(request, null, 2)}\n`)
}

/** The answer in `response.txt` without one final newline; undefined when there is none or it is empty. */
export function readResponse(directory: string): string | undefined {
  try {
    const text = readFileSync(join(directory, 'response.txt'), 'utf8').replace(/\r?\n$/, '')
    return text === '' ? undefined : text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Removes question and answer once the answer is in the journal. */
export function clearInteraction(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}
