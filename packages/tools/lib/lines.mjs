/**
 * The lines of a text, without their ends. Of a long line the beginning is kept, and what is left out is counted: a file of one line
 * takes no memory.
 *
 * @param {AsyncIterable<string>} text
 * @param {number} longest Characters.
 * @returns {AsyncGenerator<{ line: string, left: number }>}
 */
export async function* linesOf(text, longest) {
  let line = ''
  let left = 0
  for await (const chunk of text) {
    for (const [index, part] of chunk.split('\n').entries()) {
      if (index > 0) {
        yield left === 0 ? { line: line.replace(/\r$/, ''), left } : { line, left }
        line = ''
        left = 0
      }
      const kept = part.slice(0, Math.max(0, longest - line.length))
      line += kept
      left += part.length - kept.length
    }
  }
  if (line !== '' || left > 0) yield { line, left }
}
