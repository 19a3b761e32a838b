/** Index of a word that is program text, who runs it, and whether it is only one word of several that make the text. */
export type ProgramText = [index: number, interpreter: string, isJoined?: boolean]

/** A set of names. Looking one up costs less than a pattern, which is compiled first. */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Programs whose program text is a shell script. */
export const SHELLS = namesOf('sh bash rbash dash zsh ksh mksh ash fish csh tcsh su runuser script flock')
export const SHELL_OPTION = /^(?:[-+][A-Za-z]*c|--(?:session-)?command(?:=|$))/
/** Programs that are no shells and hand a text to one. */
const STARTS_SHELL = namesOf('adb difftool env filter-branch foreach git parallel rebase sg split tar watch')
/** Variables whose text the shell runs. */
export const RUN_LATER = /^(?:PS\d|PROMPT_COMMAND|BASH_ENV)(?:\[.*\])?\+?=/s
/** Settings of `ssh` and `scp` whose text a shell runs. */
const SSH_COMMAND = /^(?:-o\s*)?(?:Proxy|Local|Remote|KnownHosts)Command[=\s]/i

/** Programs that start another one: their `--` ends their own options, not those of what they start. */
const STARTS_ANOTHER = namesOf(
  'command builtin exec find env sudo doas pkexec su runuser sg xargs parallel nice ionice nohup setsid stdbuf time timeout watch flock taskset chrt numactl fakeroot busybox script chroot unshare nsenter setpriv systemd-run strace npm npx pnpm yarn bunx docker podman kubectl ssh sshpass vagrant gcloud uv poetry',
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
  ['git', /^(?:alias\.|[\w-]+\.[\w.-]*(?:pager|editor|command|cmd|helper)).*=|^--\w+-pack(?:=|$)/i],
  ['rebase', /^(?:-x$|--exec(?:=|$))/],
  ['difftool', /^(?:-x$|--extcmd(?:=|$))/],
  ['filter-branch', /^--[\w-]+-filter(?:=|$)/],
  ['foreach', /[^\w\0./-]/],
])

/**
 * The words of one command that an interpreter runs as a program.
 *
 * Looks for interpreters at every position, because `env`, `xargs`, `timeout`, `find -exec` and many others run one.
 *
 * @param words - Each as `shapeOf` gives it.
 */
export function findProgramText(words: readonly string[]): ProgramText[] {
  const startsAnother = mayStartAnother(words)
  const places: ProgramText[] = []
  for (const [index, word] of words.entries()) {
    const joined = index === 0 || startsAnother ? JOINED.get(baseName(word))?.(words, index) : undefined
    places.push(...(joined ?? programTextAt(words, index)))
    // All that follows is part of the text.
    if (joined?.length) break
  }
  return places
}

function programTextAt(words: readonly string[], index: number): ProgramText[] {
  const word = words[index] ?? ''
  const name = baseName(word)
  if (index > 0 && RUN_LATER.test(word)) return [[index, 'bash']]
  if (index > 0 && SSH_COMMAND.test(word)) return [[index, 'sh']]
  const option = SHELLS.has(name) ? SHELL_OPTION : INTERPRETERS.get(name.replace(/[\d.]+$/, ''))
  return option ? programOf(words, index, option).map((place) => [place, name]) : []
}

/** True where the first word starts another program, or only a shell knows what it is: `$SUDO`. */
export function mayStartAnother([first = '']: readonly string[]): boolean {
  return STARTS_ANOTHER.has(baseName(first)) || /^\0+$/.test(first)
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

/** The name of a program from its path, also behind `--entrypoint=`. */
export function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('=')) + 1)
}

/** From each of the options on to the first operand behind it, which is the program. A shell takes one. */
function programOf(words: readonly string[], start: number, option: RegExp): number[] {
  const name = baseName(words[start] ?? '')
  // Behind its script everything is the script's, but `docker --entrypoint sh` has an image there, and $OPTIONS may be options.
  const script = start === 0 && /^(?:ba|da)?sh$/.test(name) ? operandIndex(words, start) : words.length
  const end = /^\0+$/.test(words[script] ?? '') ? words.length : script
  const options = [...words.keys()].filter(
    (index) => index > start && index < end && option.test(words[index] ?? ''),
  )
  const places = options
    .slice(0, STARTS_SHELL.has(name) ? undefined : 1)
    .flatMap((first) => programBehind(words, start, first))
  return [...new Set(places)]
}

function programBehind(words: readonly string[], start: number, first: number): number[] {
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

/** For options that take a word when the first of some letters is their last. */
function takenBehind(letters: string): (option: string) => number {
  const pattern = new RegExp(`^-[^-${letters}]*[${letters}]$`)
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

/** Programs that join words to a text for a shell, and which words these are. */
const JOINED = new Map<string, (words: readonly string[], start: number) => ProgramText[]>([
  ['sg', (words, start) => placesFrom(words, operandIndex(words, start) + 1, 'sg', false)],
  ['ssh', remoteCommand],
  ['watch', watchedCommand],
  ['adb', (words) => placesFrom(words, words.indexOf('shell') + 1 || words.length, 'adb')],
  ['parallel', parallelCommand],
])

function placesFrom(
  words: readonly string[],
  start: number,
  name: string,
  isJoined = words.length > start + 1,
): ProgramText[] {
  return words.slice(start).map((_, index) => [start + index, name, isJoined])
}

const TAKEN_BY_SSH = takenBehind('BbcDEeFIiJLlmOopQRSWw')
const TAKEN_BY_WATCH = takenBehind('nq')

const TAKEN_BY_PARALLEL = takenBehind('aCdEIjLlNnPSs')

/** What stands behind ssh's destination is joined and run by a shell over there; options come before both. */
function remoteCommand(words: readonly string[], start: number): ProgramText[] {
  const destination = operandIndex(words, start, TAKEN_BY_SSH)
  const isEnded = words.slice(start, destination).includes('--')
  const command = isEnded ? destination + 1 : operandIndex(words, destination, TAKEN_BY_SSH)
  const options = programOf(words.slice(0, command), start, SHELL_OPTION) // of `vagrant ssh`
  return [...options.map((index): ProgramText => [index, 'ssh']), ...placesFrom(words, command, 'ssh')]
}

function parallelCommand(words: readonly string[], start: number): ProgramText[] {
  const inputs = words.findIndex((word) => word.startsWith(':::'))
  const command = inputs < 0 ? words : words.slice(0, inputs)
  return placesFrom(command, operandIndex(command, start, TAKEN_BY_PARALLEL), 'parallel')
}

/** So is what `watch` runs, unless it is told to start it itself. */
function watchedCommand(words: readonly string[], start: number): ProgramText[] {
  const first = operandIndex(words, start, TAKEN_BY_WATCH)
  const isExec = words.slice(start, first).some((word) => /^-[A-Za-wyz]*x|^--exec$/.test(word))
  return isExec ? [] : placesFrom(words, first, 'watch')
}
