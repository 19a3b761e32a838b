import { baseName, programIndex } from '../programs.js'

/** Options that take a word, of programs that start another one. */
const TAKES_WORD = new Map([
  ['env', /^-[A-Za-z]*[uC]$|^--(?:unset|chdir)$/],
  ['sudo', /^-[A-Za-z]*[CDghpRrTtUu]$|^--(?:user|group|host|prompt|chdir|chroot|role|type|other-user)$/],
  ['doas', /^-[A-Za-z]*[Cu]$/],
  [
    'xargs',
    /^-[A-Za-z\d]*[adEILnPs]$|^--(?:arg-file|delimiter|max-(?:args|lines|procs|chars)|process-slot-var)$/,
  ],
  ['nice', /^-n$|^--adjustment$/],
  ['time', /^-[A-Za-z]*[fo]$|^--(?:format|output)$/],
  ['stdbuf', /^-[ioe]$|^--(?:input|output|error)$/],
  ['exec', /^-[cl]*a$/],
])

/** Where the program stands that a command runs in the end, behind `env`, `sudo` and the like; -1 for `command -v` and nothing. */
export function startedProgram(shapes: readonly string[]): number {
  let runner = ''
  for (let index = 0; index < shapes.length; index++) {
    const word = shapes[index] ?? ''
    if (index > 0 && word.startsWith('-')) {
      if (runner === 'command' && /^-[a-z]*v/i.test(word)) return -1
      if (TAKES_WORD.get(runner)?.test(word)) index += 1
    } else if (index === 0 || !isSetting(word)) {
      if (programIndex([word]) === 0) return index
      runner = baseName(word)
    }
  }
  return -1
}

/** True for what sets a variable, whatever its name is: `APP_${key}=${value}`. */
function isSetting(word: string): boolean {
  return /^[\w\0]+=/.test(word)
}

/** Where the words end that may set a variable for the program. */
export function settingsIn(shapes: readonly string[]): number[] {
  const program = startedProgram(shapes)
  const end = program < 0 ? shapes.length : program
  return shapes.flatMap((word, index) => (index > 0 && index < end && isSetting(word) ? [index] : []))
}
