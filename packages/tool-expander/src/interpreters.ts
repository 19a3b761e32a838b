/** Index of a word that is program text, who runs it, and whether it is only one word of several that make the text. */
export type ProgramText = [index: number, interpreter: string, isJoined?: boolean]

/** A set of names. Looking one up costs less than a pattern, which is compiled first. */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Programs whose program text is a shell script. */
export const SHELLS = namesOf('sh bash rbash dash zsh ksh mksh ash fish su runuser script flock')
export const SHELL_OPTION = /^(?:[-+][A-Za-z]*c|--(?:session-)?command(?:=|$))/
/** Programs that are no shells and hand a text to one. */
const STARTS_SHELL = namesOf('env git sg split tar watch')
/** Variables whose text the shell runs. */
export const RUN_LATER = /^(?:PS\d|PROMPT_COMMAND|BASH_ENV)(?:\[.*\])?\+?=/s

/** Programs that start another one: their `--` ends their own options, not those of what they start. */
export const STARTS_ANOTHER = namesOf(
  'command builtin exec find env sudo doas pkexec su runuser sg xargs parallel nice ionice nohup setsid stdbuf time timeout watch flock taskset chrt numactl fakeroot busybox script chroot unshare nsenter setpriv systemd-run strace npm npx pnpm yarn bunx docker podman kubectl ssh uv poetry',
)
const NODE_OPTION = /^(?:-[A-Za-z]*[ep]|--(?:eval|print)(?:=|$))/
const PERL_OPTION = /^-[A-Za-z\d]*[eE]/

/** Other programs that run text, without their version, and the option after which, or attached to which, it comes. */
const INTERPRETERS = new Map([
  ['python', /^-[A-Za-z]*c/],
  ['node', NODE_OPTION],
  ['nodejs', NODE_OPTION],
  ['bun', NODE_OPTION],
  ['deno', NODE_OPTION],
  ['perl', PERL_OPTION],
  ['ruby', PERL_OPTION],
  ['php', /^-[A-Za-z]*r/],
  ['env', /^(?:-[A-Za-z]*S|--split-string(?:=|$))/],
  ['split', /^--filter(?:=|$)/],
  [
    'tar',
    /^--(?:checkpoint-action|to-command|use-compress-program|rsh-command|(?:info|new-volume)-script)(?:=|$)|^-[A-Za-z]*[FI]$/,
  ],
  ['git', /^(?:alias\.|core\.\w*(?:pager|editor|command)|\w+\.\w*(?:cmd|helper)).*=/i],
])

/**
 * The words of one command that an interpreter runs as a program.
 *
 * Looks for interpreters at every position, because `env`, `xargs`, `timeout`, `find -exec` and many others run one.
 *
 * @param words - Each as `shapeOf` gives it.
 */
export function findProgramText(words: readonly string[]): ProgramText[] {
  const startsAnother = STARTS_ANOTHER.has(baseName(words[0] ?? ''))
  return words.flatMap((word, index): ProgramText[] => {
    const name = baseName(word)
    if (index > 0 && RUN_LATER.test(word)) return [[index, 'bash']]
    const isRun = index === 0 || startsAnother
    if (name === 'ssh') return remoteCommand(words, index, isRun)
    if (name === 'watch' && isRun) return watchedCommand(words, index)
    if (name === 'sg' && isRun) return placesFrom(words, operandIndex(words, index) + 1, name)
    const option = SHELLS.has(name) ? SHELL_OPTION : INTERPRETERS.get(name.replace(/[\d.]+$/, ''))
    return option ? programOf(words, index, option).map((place) => [place, name]) : []
  })
}

/** True for a program that hands a text to a shell. */
export function runsShell(name: string): boolean {
  return SHELLS.has(name) || STARTS_SHELL.has(name)
}

/** True for a text that may run a shell, which then reads what its own shell is fed. */
export function namesShell(text: string): boolean {
  return text
    .split(/[^\w./-]+/)
    .some((word) => /^(?:\.|source|eval)$/.test(word) || SHELLS.has(baseName(word)))
}

/** Where the program stands that `env`, `sudo` and the like run in the end. */
export function programIndex(words: readonly string[]): number {
  return words.findIndex(
    (word, index) => !RUNS_THE_REST.has(baseName(word)) && (index === 0 || !/^-|^\w+=/.test(word)),
  )
}

const RUNS_THE_REST = namesOf('env sudo doas xargs nice nohup setsid stdbuf time exec command builtin')

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** From the option on to the first operand behind it, which is the program. */
function programOf(words: readonly string[], start: number, option: RegExp): number[] {
  const first = words.findIndex((word, index) => index > start && option.test(word))
  if (first < 0) return []
  const isAttached = /^(?:--|[^-+]).*=/s.test(words[first] ?? '')
  const end = isAttached ? first : operandIndex(words, first)
  const places = [...words.keys()]
  // What stands behind `env -S 'sh -c'` is the shell's.
  const startsShell = baseName(words[start] ?? '') === 'env' && words.slice(first, end + 1).some(namesShell)
  return places.slice(first, startsShell ? undefined : end + 1)
}

/** How many words an option of a shell takes: one for each o. */
function takenByShell(option: string): number {
  if (/^--(?:rcfile|init-file)$/.test(option)) return 1
  return /^[-+][A-Za-z]+$/.test(option) ? option.replace(/[^o]/gi, '').length : 0
}

/** For options that take a word when they end in one of some letters. */
function takenBehind(letters: string): (option: string) => number {
  const pattern = new RegExp(`^-[A-Za-z]*[${letters}]$`)
  return (option) => Number(pattern.test(option))
}

/** The first word behind another that is neither an option nor what an option takes. */
export function operandIndex(words: readonly string[], start: number, taken = takenByShell): number {
  let skipped = 0
  for (let index = start; index < words.length; index++) {
    const word = words[index] ?? ''
    const isOption = /^[-+]/.test(word)
    if (index > start && skipped > 0) skipped -= 1
    else if (isOption) skipped += taken(word)
    else if (index > start) return index
  }
  return words.length
}

function placesFrom(words: readonly string[], start: number, name: string, isJoined = false): ProgramText[] {
  return words.slice(start).map((_, index) => [start + index, name, isJoined])
}

const TAKEN_BY_SSH = takenBehind('BbcDEeFIiJLlmOopQRSWw')
const TAKEN_BY_WATCH = takenBehind('nq')

/** Everything behind ssh's destination is joined and run by a shell over there; `-o` can name a command, too. */
function remoteCommand(words: readonly string[], start: number, isRun: boolean): ProgramText[] {
  const destination = operandIndex(words, start, TAKEN_BY_SSH)
  const isJoined = isRun && words.length > destination + 2
  return [
    ...placesFrom(words.slice(0, destination), start + 1, 'ssh'),
    ...placesFrom(words, destination + 1, 'ssh', isJoined),
  ]
}

/** So is what `watch` runs, unless it is told to start it itself. */
function watchedCommand(words: readonly string[], start: number): ProgramText[] {
  const first = operandIndex(words, start, TAKEN_BY_WATCH)
  const isExec = words.slice(start, first).some((word) => /^-[A-Za-wyz]*x|^--exec$/.test(word))
  return isExec ? [] : placesFrom(words, first, 'watch', words.length > first + 1)
}
