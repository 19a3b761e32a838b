import { skipBlanks } from './commands.js'
import { checkOperands } from './rules.js'
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
  // The first word behind || and the like.
  let program = ''
  for (;;) {
    let isFirst = skipBlanks(scan)
    while (take(scan, /[()&|<>]/y)) {
      isFirst = true
      skipBlanks(scan)
    }
    const word = readWord(scan)
    if (word.offset === scan.at) missing(scan, opening, ']]')
    // The name of a program begins with a letter, a dot or a slash, all behind the dash of an operator.
    isFirst ||= program === '!'
    if (isFirst || program >= '.') refuse(scan, word.found, '[[ ]], which other shells run', 'Write [ … ].')
    if (isFirst) program = word.shape
    if (word.shape === ']]' && !word.quoted) break
    words.push(word)
  }
  checkOperands(scan, words, /^-(?:eq|ne|lt|le|gt|ge|[vR])$/)
}
