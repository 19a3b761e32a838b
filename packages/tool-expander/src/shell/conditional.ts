import { skipBlanks } from './commands.js'
import { checkTest } from './rules.js'
import { missing, refuse, type Scan, take, type Word } from './scan.js'
import { readWord } from './words.js'

/**
 * Reads bash's `[[ … ]]`.
 *
 * Where `sh` is no bash, `[[` is a program that does not exist, `<` and `>` redirect, and `||` goes on to run
 * the next word as a command. So no value may stand where it would then be run or name a file.
 */
export function readConditional(scan: Scan, opening: number): void {
  const words: Word[] = []
  for (;;) {
    let isFirst = skipBlanks(scan)
    while (take(scan, /[()&|<>]/y)) {
      isFirst = true
      skipBlanks(scan)
    }
    const word = readWord(scan)
    if (word.offset === scan.at) missing(scan, opening, ']]')
    const place = '[[ ]], where other shells run it'
    if (isFirst) refuse(scan, word.found, place, 'Write [ … ] || [ … ].')
    if (word.shape === ']]' && !word.quoted) break
    words.push(word)
  }
  checkTest(scan, words, false)
}
