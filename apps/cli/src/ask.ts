import type { Question } from '@delta/engine'
import { isAnswerTo } from '@delta/engine/internal'
import { readHidden, readLine } from './read-line.js'
import type { Terminal } from './terminal.js'
import { claimOf, printable, wrapped } from './text.js'

/**
 * Asks on stderr and reads one line from stdin, whether that is a terminal or not; a sensitive answer and a password are not
 * echoed. A confirmation is asked again until the answer is yes or no, an approval until it is yes, no or always. Undefined
 * without an answer: at end of input, or when `signal` is aborted.
 */
export async function askAtTerminal(
  question: Question,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isApproval = question.command !== undefined
  let prompt = promptOf(question, terminal.stderr.columns)
  for (;;) {
    const line = await askOnce(prompt, question, terminal, signal)
    if (line === undefined || isAnswerTo(question, line)) return line
    terminal.stderr.write(`Please answer ${isApproval ? 'yes, no or always' : 'yes or no'}.\n`)
    if (isApproval) prompt = `${choiceOf(question)} ` // the command is on the screen already
  }
}

function promptOf(question: Question, columns: number | undefined): string {
  const { command, tool, effects } = question
  const text = printable(question.prompt.trimEnd())
  const room = columns && columns - 1 // a blank follows
  const fit = (lines: readonly string[]) => lines.flatMap((line) => wrapped(line, room)).join('\n')
  // after several lines, the answer would look like part of the last one
  if (command === undefined)
    return `${fit(`${text}${choiceOf(question)}`.split('\n'))}${text.includes('\n') ? '\n>' : ''} `
  const [why = '', ...judged] = text.split('\n') // the command stays as it is
  const always = `always: any later call of ${tool} in this run, with any arguments, is not asked about.`
  return [fit([why]), ...judged, fit([claimOf(effects), always]), `${choiceOf(question)} `].join('\n')
}

function choiceOf({ command, tool, inputType }: Question): string {
  if (command !== undefined) return `Allow ${tool}? [yes/no/always]`
  return inputType === 'confirmation' ? ' [yes/no]' : ''
}

async function askOnce(
  prompt: string,
  question: Question,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const isTypedUnseen = question.sensitive || question.inputType === 'password'
  const hidden = isTypedUnseen && terminal.stdin.isTTY === true
  const endLine = (): void => void terminal.stderr.write('\n')
  signal.addEventListener('abort', endLine, { once: true }) // before the reason is printed
  const line = hidden
    ? await readHidden(prompt, terminal, signal)
    : await untilAborted(readLine(prompt, terminal), signal)
  if (signal.aborted) terminal.stdin.unref?.() // the pending read must not keep the process alive
  signal.removeEventListener('abort', endLine)
  // no typed Enter has ended the line on the screen
  const isEchoed = terminal.stdin.isTTY === true && !hidden && line !== undefined
  if (!signal.aborted && !isEchoed) endLine()
  return line
}

/** Resolves to undefined once the signal is aborted. Leaves no listener on it, since a run may ask many questions. */
function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(undefined)
    if (signal.aborted) giveUp()
    signal.addEventListener('abort', giveUp, { once: true })
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp))
  })
}
