import { isYesOrNo, type Question } from '@delta/engine'
import { readHidden } from '../terminal/read-hidden.js'
import { readLine } from '../terminal/read-line.js'
import type { Terminal } from '../terminal/terminal.js'
import { claimOf } from './effects.js'
import { printable } from './printable.js'

/**
 * Asks on stderr and reads one line from stdin, whether that is a terminal or not; a sensitive answer and a password are not echoed. A
 * confirmation is asked again until the answer is yes or no. Undefined if nobody answered: at end of input, or when `signal`
 * is aborted.
 */
export async function askAtTerminal(
  question: Question,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  // to an approval, anything but yes means no
  const takesAnything = question.inputType !== 'confirmation' || question.command !== undefined
  for (;;) {
    const line = await askOnce(question, terminal, signal)
    if (line === undefined || takesAnything || isYesOrNo(line)) return line
    terminal.stderr.write('Please answer yes or no.\n')
  }
}

async function askOnce(
  question: Question,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = `${printable(question.prompt.trimEnd())}${claim(question)}${hint(question)} `
  const isTypedUnseen = question.sensitive || question.inputType === 'password'
  const hidden = isTypedUnseen && terminal.stdin.isTTY === true
  const endLine = (): void => void terminal.stderr.write('\n')
  signal.addEventListener('abort', endLine, { once: true }) // before the reason is printed
  const line = hidden
    ? await readHidden(prompt, terminal, signal)
    : await untilAborted(promptForLine(prompt, terminal), signal)
  if (signal.aborted) terminal.stdin.unref?.() // the pending read must not keep the process alive
  signal.removeEventListener('abort', endLine)
  // no typed Enter has ended the line on the screen
  const isEchoed = terminal.stdin.isTTY === true && !hidden && line !== undefined
  if (!signal.aborted && !isEchoed) endLine()
  return line
}

function promptForLine(prompt: string, terminal: Terminal): Promise<string | undefined> {
  terminal.stderr.write(prompt)
  return readLine(terminal)
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

/** The declared effects of a command to be approved. */
function claim(question: Question): string {
  return question.command === undefined ? '' : `\n${claimOf(question.effects)}`
}

function hint(question: Question): string {
  if (question.command !== undefined) return '\nAllow it? [yes/no]'
  const choice = question.inputType === 'confirmation' ? ' [yes/no]' : ''
  // after several lines, the answer would look like part of the last one
  return question.prompt.trimEnd().includes('\n') ? `${choice}\n>` : choice
}
