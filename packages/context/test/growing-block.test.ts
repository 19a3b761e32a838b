import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { growingBlock } from '../src/conversation/growing-block.js'
import { sizeMessage } from '../src/conversation/sized-message.js'
import type { Turn } from '../src/conversation/turn.js'

const userTurn = (content: string): Turn => ({
  kind: 'user',
  messages: [sizeMessage({ role: 'user', content })],
})

/** What a list of turns is, looked at from nothing. */
function blockOf(turns: readonly Turn[]) {
  const messages = turns.flatMap((turn) => turn.messages)
  const texts = messages.map(({ json }) => json)
  return {
    messages: messages.map(({ message }) => message),
    texts,
    bytes: Buffer.byteLength(texts.join('')),
    sha256: createHash('sha256').update(texts.join('')).digest('hex'),
  }
}

test('turns that grow, shrink or change always become the messages they are', () => {
  const someText = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(fc.array(fc.array(someText), { maxLength: 8 }), (lists) => {
      const grow = growingBlock()
      for (const list of lists) {
        const turns = list.map(userTurn)
        expect(grow(turns)).toEqual(blockOf(turns))
        const more = [...turns, userTurn('and more')]
        expect(grow(more)).toEqual(blockOf(more))
      }
    }),
  )
})

test('what was given out before stays as it was', () => {
  const grow = growingBlock()
  const first = [userTurn('one')]
  const block = grow(first)
  grow([...first, userTurn('two')])
  expect(block).toEqual(blockOf(first))
})
