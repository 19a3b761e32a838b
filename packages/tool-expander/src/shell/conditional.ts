import { bash, skipBlanks } from './commands.js'
import { checkTest } from './rules.js'
import { literalOf, refuse, type Scan, stop, type Word } from './scan.js'
import { readWord } from './words.js'

/**
 * Reads bash's `[[ … ]]`.
 *
 * Where `sh` is no bash, `[[` is a program that does not exist, `<` and `>` redirect, and `||` goes on to run
 * the next word as a command. So no value may stand where it would then be run or name a file.
 */
export function readConditional(scan: Scan, opening: number): void {
  bash(scan, '[[', opening)
  const words: Word[] = []
  for (;;) {
    const before = scan.at
    skipBlanks(scan)
    const crossedLine = scan.text.slice(before, scan.at).includes('\n')
    if (scan.at >= scan.end) stop(scan, opening, 'This [[ is never closed.')
    const operator = /^[()&|<>]+/.exec(scan.text.slice(scan.at, scan.end))?.[0] ?? ''
    scan.at += operator.length
    if (operator !== '') skipBlanks(scan)
    const word = readWord(scan)
    if (word.offset === scan.at && operator === '') stop(scan, scan.at, 'The shell expects a word here.')
    if (operator !== '' || crossedLine) {
      refuse(
        scan,
        word.found,
        `[[ ]] behind ${operator || 'a newline'}, which other shells than bash run`,
        WAY_OUT,
      )
    }
    if (literalOf(word) === ']]') break
    words.push(word)
  }
  checkTest(scan, words)
}

const WAY_OUT = 'Write each test in a pair of [ ] of its own: [ … ] || [ … ].'
