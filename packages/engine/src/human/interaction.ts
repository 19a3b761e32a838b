import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@delta/journal'
import type { Question } from '../outcome.js'
import { readIfThere } from '../read-if-there.js'

/** Leaves a question where a person or a program finds it: `request.json`, and an empty `response.txt` to fill in. */
export function leaveQuestion(directory: string, question: Question): void {
  if (isAskedIn(directory, question)) return
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const request = {
    request_id: question.requestId,
    timestamp: new Date().toISOString(),
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
    command: question.command, // this and the following only for an approval
    tool_name: question.tool,
    reasons: question.reasons,
    effects: question.effects,
  }
  replaceFile(join(directory, 'response.txt'), '')
  replaceFile(join(directory, 'request.json'), `${JSON.stringify(request, null, 2)}\n`)
}

/**
 * The answer in `response.txt` without one final newline; undefined when there is none, when it is empty, or when it
 * answers another question: a crash can leave an old one lying there.
 */
export function readResponse(directory: string, question: Question): string | undefined {
  if (!isAskedIn(directory, question)) return undefined
  const text = readIfThere(join(directory, 'response.txt'))?.replace(/\r?\n$/, '')
  return text === '' ? undefined : text
}

/** Removes question and answer once the answer is in the journal. */
export function clearInteraction(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

function isAskedIn(directory: string, question: Question): boolean {
  const text = readIfThere(join(directory, 'request.json'))
  if (text === undefined) return false
  try {
    return (JSON.parse(text) as { request_id?: unknown }).request_id === question.requestId
  } catch {
    return false // somebody's edit broke it; the question is left anew
  }
}
