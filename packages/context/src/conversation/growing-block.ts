import { createHash, type Hash } from 'node:crypto'
import type { ChatMessage } from '@delta/model'
import type { SizedMessage } from './sized-message.js'
import type { Turn } from './turn.js'

/** The messages of one source, as they are sent. */
export interface Block {
  messages: readonly ChatMessage[]
  /** Each message as JSON. */
  texts: readonly string[]
  /** Of all texts, in UTF-8. */
  bytes: number
  /** Of the texts one after the other, in hex. */
  sha256: string
}

const nothing = (): Block => ({
  messages: [],
  texts: [],
  bytes: 0,
  sha256: createHash('sha256').digest('hex'),
})

/**
 * Puts the messages of turns one behind the other, for turns that mostly begin with all of those before: then only what
 * is new is looked at. Turns that are the same are mostly the same objects, too.
 */
export function growingBlock(): (turns: readonly Turn[]) => Block {
  let known: readonly Turn[] = []
  let all = nothing()
  let hash: Hash = createHash('sha256')

  return (turns) => {
    if (!beginsWith(turns, known)) {
      known = []
      all = nothing()
      hash = createHash('sha256')
    }
    const added = turns.slice(known.length).flatMap(({ messages }) => messages)
    known = turns
    if (added.length === 0) return all
    const texts = added.map(({ json }) => json)
    hash.update(texts.join('')) // at once: a call for each text costs more
    const messages = all.messages.concat(added.map(({ message }) => message))
    const bytes = added.reduce((sum, { bytes }) => sum + bytes, all.bytes)
    all = { messages, texts: all.texts.concat(texts), bytes, sha256: hash.copy().digest('hex') }
    return all
  }
}

function beginsWith(turns: readonly Turn[], known: readonly Turn[]): boolean {
  return known.every((turn, index) => isSame(turn, turns[index]))
}

function isSame(one: Turn, other: Turn | undefined): boolean {
  return one === other || (other !== undefined && isSameText(one.messages, other.messages))
}

function isSameText(one: readonly SizedMessage[], other: readonly SizedMessage[]): boolean {
  return one.length === other.length && one.every(({ json }, index) => json === other[index]?.json)
}
