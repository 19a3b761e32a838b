import {
  baseName,
  isUnknown,
  mayStartAnother,
  operandIndex,
  type Program,
  programOf,
  RUN_LATER,
} from './programs.js'

/** Index of a word that is program text, who runs it, and whether it is only one word of several that make the text. */
export type ProgramText = [index: number, interpreter: string, isJoined?: boolean]

/** Settings of `ssh` and `scp` whose text a shell runs. */
const SSH_COMMAND = /^(?:-o\s*)?(?:Proxy|Local|Remote|KnownHosts)Command[=\s]/i

/**
 * The words of one command that an interpreter runs as a program.
 *
 * Looks for interpreters at every position, because `env`, `xargs`, `timeout`, `find -exec` and many others run one.
 *
 * @param words - Each as `shapeOf` gives it.
 */
export function findProgramText(words: readonly string[]): ProgramText[] {
  const startsAnother = mayStartAnother(words[0])
  const places: ProgramText[] = []
  /** The programs met so far, by the options of theirs that have text, and up to where such a text goes. */
  const met = new Map<RegExp, string>()
  const ends = new Map<RegExp, number>()
  /** The words that will be joined, which are all that is left then; undefined while no program joins any. */
  let joined: ProgramText[] | undefined
  // Behind its script everything is the script's, but `docker --entrypoint sh` has an image there, and $OPTIONS may be options.
  const script = /^(?:(?:ba|da)?sh|npx)$/.test(baseName(words[0]))
    ? operandIndex(words, 0, programOf(words[0])?.takes)
    : words.length
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const program = programOf(word)
    if (joined && index === joined[0]?.[0]) return [...places, ...joined]
    if (!joined && program && (index === 0 || startsAnother)) joined = joinedBehind(words, index, program)
    if (index === script + 1 && !isUnknown(words[script])) met.clear()
    for (const [option, name] of met) {
      const isTold = option.test(word)
      // What stands behind `env -S 'sh -c'` is the shell's.
      if (isTold && name === 'env') return [...places, ...placesFrom(words, index, name, false)]
      const isAttached = /^(?:--|[^-+]).*=/s.test(word)
      let end = ends.get(option) ?? 0
      if (isTold && end < index) end = isAttached ? index : operandIndex(words, index)
      if (end >= index) places.push([index, name])
      ends.set(option, end)
    }
    if (index > 0 && (RUN_LATER.test(word) || SSH_COMMAND.test(word))) places.push([index, 'sh'])
    if (program?.text) met.set(program.text, baseName(word))
  }
  return places
}

/** The words that a program joins to a text for a shell: `ssh host ls a`. None where all behind it are its options. */
function joinedBehind(
  words: readonly string[],
  start: number,
  { joins, until, takes, when }: Program,
): ProgramText[] | undefined {
  if (joins === undefined) return undefined
  const end = words.findIndex((word) => until && word.startsWith(until))
  const command = end < 0 ? words : words.slice(0, end)
  const first = operandIndex(command, start, takes, joins)
  const written = ['', ...words.slice(start + 1, first + 1)].join(' ')
  if (first === words.length || when?.test(written) !== false)
    return placesFrom(command, first, baseName(words[start]))
}

function placesFrom(
  words: readonly string[],
  start: number,
  name: string,
  isJoined = words.length > start + 1,
): ProgramText[] {
  return words.slice(start).map((_, index) => [start + index, name, isJoined])
}
