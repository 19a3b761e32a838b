import { expect, test } from 'vitest'
import { run } from './workspace.js'

test('an output that is too long is cut between characters, whatever their length and wherever the cut falls', async () => {
  for (const character of ['a', 'é', '€', '😀']) {
    const text = character.repeat(8)
    for (let keepBytes = 0; keepBytes < 12; keepBytes++) {
      const { stdout } = await run(['printf', text], { keepBytes })
      const kept = stdout.omittedBytes > 0 ? stdout.text.replace(/\n\[\d+ bytes left out\]\n/, '') : text
      expect(kept).toBe(character.repeat([...kept].length))
      expect(stdout.head.length + stdout.tail.length).toBe(Math.min(keepBytes, Buffer.byteLength(text)))
    }
  }
})
