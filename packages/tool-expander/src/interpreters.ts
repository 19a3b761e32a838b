import { isParameter, type Placeholder, type Word } from './template.js'

/** What is known of a program. */
export interface Program {
  /** Options with program text: attached to them, or up to the next operand. */
  text?: RegExp
  /** That text is not a script for a shell of this machine: in `shell:` only `lintTool` names it. */
  isForeign?: true
  /** Options that take words which are not operands, one for each match. */
  takes?: RegExp
  /** From this operand on, counted from 0, it joins its words to a script for a shell. */
  joins?: number
  /** Up to a word that begins so. */
  until?: string
  /** It starts a shell unless it has this operand. */
  command?: number
  /** That operand is the file of its script, or the text of an option before it. */
  readsFile?: true
  /** That only if the words up to there, each with a blank before it, are like this. */
  when?: RegExp
}

/** The names of a list with blanks between them. */
/* @__NO_SIDE_EFFECTS__ */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

/** Options with one of some letters, alone or among others, or long ones. Without a name there are none. */
function optionsWith(letters: string, names = '(?!)'): RegExp {
  return new RegExp(`^[-+][A-Za-z\\d]*[${letters}]|^--(?:${names})(?:=|$)`)
}

/** Options that take the word behind them: what is attached to a letter is all it takes. */
function optionsTaking(letters: string, names = '(?!)'): RegExp {
  return new RegExp(`^-[^-${letters}]*[${letters}]$|^--(?:${names})$`, 'g')
}

const RUNS_LATER = 'PS\\d|PROMPT_COMMAND|BASH_ENV|BASHPID|S?RANDOM|SECONDS|OPTIND|HISTCMD'
/** What sets a variable whose text the shell runs, or computes at once. */
export const RUN_LATER = new RegExp(`^(?:${RUNS_LATER})(?:\\[.*\\])?\\+?=`, 's')
/** Options of a shell that have a script. */
export const SHELL_TEXT = /^[-+][A-Za-z\d]*c|^--(?:com|ses)[\w-]*(?:=|$)/
const FISH_TEXT = /^-[A-Za-z\d]*[cC]|^--(?:init-)?command(?:=|$)/
/** Each o of an option of a shell takes a word. */
const TAKEN_BY_SHELL = /^--(?:rcfile|init-file)$|(?<=^[-+][a-z]*)o(?=[a-z]*$)/gi

/** By their names without versions, subcommands such as `git rebase` among them. */
const PROGRAMS = (): [names: string, program: Program][] => [
  [
    'sh bash rbash dash zsh ksh mksh oksh ash yash csh tcsh',
    { text: SHELL_TEXT, command: 0, readsFile: true },
  ],
  ['fish', { text: FISH_TEXT, takes: optionsTaking('C', 'init-command'), command: 0, readsFile: true }],
  ['. source', { command: 0, readsFile: true }],
  ['su script newgrp', { text: SHELL_TEXT, command: Infinity }],
  ['runuser', { text: SHELL_TEXT, command: Infinity, when: /^(?!.* (?:-[A-Za-z]*u|--user))/ }],
  ['read readarray mapfile', { command: Infinity, when: new RegExp(` (?:${RUNS_LATER})(?: |$)`) }],
  ['flock', { text: SHELL_TEXT }],
  ['vagrant', { text: SHELL_TEXT, isForeign: true }],
  [
    'sudo doas',
    { takes: optionsTaking('CDghpRrTtUu'), command: 0, when: / (?:-[A-Za-z]*[is]|--(?:login|shell))/ },
  ],
  ['nsenter unshare', { takes: optionsTaking('GRStw', 'target|set[ug]id|root|wd'), command: 0 }],
  ['chroot', { command: 1 }],
  ['sg', { text: /^-c/, joins: 1, command: 1 }],
  [
    'ssh',
    { text: /^--command(?!=\0$)/, takes: optionsTaking('BbcDEeFIiJLlmOopQRSWw'), joins: 1, isForeign: true },
  ],
  ['watch', { takes: optionsTaking('nq'), joins: 0, when: /^(?!.* (?:-[A-Za-wyz]*x|--exec\b))/ }],
  ['parallel sem', { takes: optionsTaking('aCdEIjLlNnPSs'), joins: 0, until: ':::' }],
  ['adb', { takes: optionsTaking('HLPst', 'one-device'), joins: 1, when: / (?:shell|exec-out)(?: |$)/ }],
  ['python', { text: optionsWith('c'), isForeign: true }],
  ['node nodejs bun deno', { text: optionsWith('ep', 'eval|print'), isForeign: true }],
  ['perl ruby', { text: optionsWith('eE'), isForeign: true }],
  ['php', { text: optionsWith('r', 'run'), isForeign: true }],
  ['env split', { text: optionsWith('S', 'sp[\\w-]*|filter') }],
  // It takes these shortened, too.
  ['tar', { text: optionsWith('FI', '(?:checkpoint-a|to-c|us|rsh|inf|new)[\\w-]*') }],
  [
    'git',
    {
      text: /^(?:(?:alias|pager|filter)\.[^=\s]*|[\w-]+\.[^=\s]*(?:pager|editor|command|cmd|helper|program|monitor|external|filter|driver|textconv|gitproxy|pack|hook|askpass)|--\w+-(?:pack|cmd))(?:=|$)/i,
    },
  ],
  ['clone', { text: optionsWith('u') }],
  ['grep', { text: /^-O|^--open/ }],
  ['npm npx', { text: optionsWith('c', 'call'), takes: optionsTaking('p', 'package') }],
  ['rebase difftool', { text: optionsWith('x', 'exe\\w*|ext\\w*') }],
  // Only these programs have these options.
  [
    'nix-shell docker podman filter-branch',
    { text: optionsWith('', 'run|command|health-cmd|[\\w-]+-filter') },
  ],
  ['foreach', { text: /[^\w\0./-]/ }],
]

// Marked as pure: a bundle of `bindArguments` alone goes without the table.
const BY_NAME = /* @__PURE__ */ byName()

function byName(): Map<string, Program> {
  return new Map(PROGRAMS().flatMap(([names, program]) => names.split(' ').map((name) => [name, program])))
}

/** What is known of the program a word names: `sh`, `/bin/bash-5.2`, `python3.exe`. */
export function programOf(word?: string): Program | undefined {
  const name = baseName(word)
  return BY_NAME.get(/[\de]$/.test(name) ? name.replace(VERSION, '') : name)
}

const VERSION = /(?<![-\d.])[-\d.]*(?:\.exe)?$/

/** The name of a program from its path, also behind `--entrypoint=`. */
export function baseName(path = ''): string {
  return path.replace(/^.*[/=]/s, '')
}

/** True for a shell, and for programs that take a script as one does. */
export function isShell(word: string): boolean {
  const { text, isForeign } = programOf(word) ?? {}
  return !isForeign && (text === SHELL_TEXT || text === FISH_TEXT)
}

/** True for a script that may run a shell, which then reads the input of its own shell. */
export function namesShell(text: string): boolean {
  return text.split(/[^\w./-]+/).some((word) => isShell(word) || /^(?:\.|source|eval)$/.test(word))
}

const RUNS_THE_REST = 'env sudo doas xargs nice nohup setsid stdbuf time exec command builtin'
const BEHIND_THE_REST = namesOf(RUNS_THE_REST)

/** Programs that start another one: their `--` ends their own options, not those of what they start. */
const STARTS_ANOTHER = namesOf(
  `${RUNS_THE_REST} find pkexec su runuser sg parallel ionice timeout watch flock taskset chrt numactl fakeroot busybox script chroot unshare nsenter setpriv systemd-run strace npm npx pnpm yarn bunx docker podman kubectl ssh sshpass vagrant gcloud uv poetry prlimit setarch xvfb-run oc lxc op aws-vault doppler bwrap firejail tini perf bundle wsl conda mise unbuffer proxychains gosu`,
)

/** True where the first word starts another program, or only a shell knows what it is: `$SUDO`. */
export function mayStartAnother(first?: string): boolean {
  return STARTS_ANOTHER.has(baseName(first)) || isUnknown(first)
}

/** True for a word of which nothing is fixed. */
export function isUnknown(shape = ''): boolean {
  return /^\0+$/.test(shape)
}

/** Where the program stands that `env`, `sudo` and the like run in the end. */
export function programIndex(words: readonly string[]): number {
  return words.findIndex(
    (word, index) => !BEHIND_THE_REST.has(baseName(word)) && (index === 0 || !/^-|^\w+=/.test(word)),
  )
}

/** Where an operand behind a program or an option stands, counted from 0: not an option, and not what an option takes. */
export function operandIndex(
  words: readonly string[],
  start: number,
  takes = TAKEN_BY_SHELL,
  count = 0,
): number {
  let taken = 0
  let left = count
  let hasEnded = false
  for (let index = start; index < words.length; index++) {
    const word = words[index] ?? ''
    if (taken > 0) taken -= 1
    else if (!hasEnded && /^[-+]/.test(word)) {
      hasEnded = /^--?$/.test(word)
      taken = word.match(takes)?.length ?? 0
    } else if (index > start && left-- === 0) return index
  }
  return words.length
}

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

/** The words that a program joins to a script for a shell: `ssh host ls a`. Undefined where all words behind it are its options. */
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

/** Programs whose first `--` makes an option of nothing they pass on, or, for `find`, of nothing at all. */
export const PASSES_ON = namesOf(
  'bun cargo find npm pnpm yarn dotnet tox nox bazel nix turbo nx composer stack cabal deno',
)

/**
 * Calls back for each value that can begin a word which a program may take for an option.
 *
 * A `--` protects the values behind it; that of a program which starts another one only up to the next fixed word.
 */
export function forLeadingValues(
  words: readonly Word[],
  note: (value: Placeholder, word: Word) => void,
): void {
  let unprotected: number | undefined
  let isProtected = false
  for (const word of words) {
    const { pieces, shape } = word
    if (pieces.some(isParameter)) {
      if (!isProtected)
        for (const value of pieces) if (isParameter(value) && value.leads && !value.raw) note(value, word)
    } else if (shape === '--') {
      unprotected ??= countIdle(words)
      isProtected = unprotected-- < 1
    } else isProtected &&= shape.startsWith('-') || !mayStartAnother(words[0]?.shape)
  }
}

/** How many `--` of a command protect nothing. */
function countIdle(words: readonly Word[]): number {
  const isRun = mayStartAnother(words[0]?.shape) ? words : words.slice(0, 1)
  // Behind the script of a shell it is $0.
  const isScript =
    isRun.some(({ shape }) => isShell(shape)) && words.some(({ shape }) => SHELL_TEXT.test(shape))
  if (isScript) return Infinity
  return isRun.some(({ shape }) => PASSES_ON.has(baseName(shape))) ? 1 : 0
}
