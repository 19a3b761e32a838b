// What the two loops written by hand have in common.
import { fdatasyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file of JSON lines in `directory`, which is made. */
export function openLog(directory, name) {
  mkdirSync(directory, { recursive: true })
  const descriptor = openSync(join(directory, name), 'a')
  let seq = 0

  function append(event, { sync = false } = {}) {
    seq += 1
    writeSync(descriptor, `${JSON.stringify({ seq, timestamp: new Date().toISOString(), ...event })}\n`)
    if (sync) fdatasyncSync(descriptor)
  }
  return { append, sync: () => fdatasyncSync(descriptor) }
}

/**
 * Asks until there is an answer and runs `echo` between: the thought, the request for a command and its result are three
 * lines of the journal, and on disk before the command starts and before the next question.
 */
export async function converse({ journal, ask, run }) {
  const messages = [{ role: 'user', content: 'Go' }]
  for (;;) {
    const message = await ask(messages)
    journal.append({ type: 'THOUGHT', message })
    messages.push(message)
    if (!message.tool_calls) return
    for (const call of message.tool_calls) {
      const argv = ['echo', JSON.parse(call.function.arguments).text]
      const observation = await run(argv, () =>
        journal.append({ type: 'ACTION_REQUEST', argv }, { sync: true }),
      )
      journal.append({ type: 'ACTION_RESULT', observation }, { sync: true })
      messages.push({ role: 'tool', tool_call_id: call.id, content: observation })
    }
  }
}
