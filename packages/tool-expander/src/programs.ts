/** What is known of a program. */
interface Program {
  /** Options with program text: attached to them, or up to the next operand. */
  text?: RegExp
  /** That text is no script for a shell of this machine, so in `shell:` it is for `lintTool` to name. */
  isForeign?: true
  /** Options that take words which are no operands, one for each match. */
  takes?: RegExp
  /** From this operand on, counted from 0, it joins its words to a text for a shell. */
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

/** A set of names. Looking one up costs less than a pattern, which is compiled first. */
export function namesOf(names: string): ReadonlySet<string> {
  return new Set(names.split(' '))
}

const SHELL_TEXT = /^(?:[-+][A-Za-z]*c|--(?:session-)?command(?:=|$))/
/** Each o of an option of a shell takes a word. */
const TAKEN_BY_SHELL = /^--(?:rcfile|init-file)$|(?<=^[-+][a-z]*)o(?=[a-z]*$)/gi
const LOGIN = / (?:-[A-Za-z]*[is]|--(?:login|shell))/

/** Names without their versions. Those of subcommands are here, too: `git rebase`. */
const PROGRAMS = new Map(
  (
    [
      [
        'sh bash rbash dash zsh ksh mksh ash fish csh tcsh',
        { text: SHELL_TEXT, command: 0, readsFile: true },
      ],
      ['. source', { command: 0, readsFile: true }],
      ['su script', { text: SHELL_TEXT, command: Infinity }],
      ['runuser', { text: SHELL_TEXT, command: Infinity, when: /^(?!.* (?:-[A-Za-z]*u|--user))/ }],
      ['newgrp', { command: Infinity }],
      ['flock', { text: SHELL_TEXT }],
      ['vagrant', { text: SHELL_TEXT, isForeign: true }],
      ['sudo', { takes: /^-[A-Za-z]*[CDghpRrTtUu]$/g, command: 0, when: LOGIN }],
      ['doas', { takes: /^-[A-Za-z]*[Cu]$/g, command: 0, when: LOGIN }],
      ['nsenter', { takes: /^-[A-Za-z]*[tSG]$|^--(?:target|set[ug]id)$/g, command: 0 }],
      ['unshare', { takes: /^-[A-Za-z]*[SGRw]$|^--(?:set[ug]id|root|wd)$/g, command: 0 }],
      ['chroot', { command: 1 }],
      ['sg', { text: /^-/, joins: 1, command: 1 }],
      ['ssh', { takes: /^-[^-BbcDEeFIiJLlmOopQRSWw]*[BbcDEeFIiJLlmOopQRSWw]$/g, joins: 1, isForeign: true }],
      ['watch', { takes: /^-[^-nq]*[nq]$/g, joins: 0, when: /^(?!.* (?:-[A-Za-wyz]*x|--exec\b))/ }],
      ['parallel', { takes: /^-[^-aCdEIjLlNnPSs]*[aCdEIjLlNnPSs]$/g, joins: 0, until: ':::' }],
      ['adb', { takes: /^-[HLPs]$/g, joins: 1, when: / shell(?: |$)/ }],
      ['python', { text: /^-[A-Za-z]*c/, isForeign: true }],
      ['node nodejs bun deno', { text: /^(?:-[A-Za-z]*[ep]|--(?:eval|print)(?:=|$))/, isForeign: true }],
      ['perl ruby', { text: /^-[A-Za-z\d]*[eE]/, isForeign: true }],
      ['php', { text: /^-[A-Za-z]*r/, isForeign: true }],
      ['env', { text: /^(?:-[A-Za-z]*S|--split-string(?:=|$))/ }],
      ['split', { text: /^--filter(?:=|$)/ }],
      [
        'tar',
        {
          text: /^--(?:checkpoint-action|to-command|use-compress-program|rsh-command|(?:info|new-volume)-script)(?:=|$)|^-[A-Za-z]*[FI]$/,
        },
      ],
      [
        'git',
        { text: /^(?:alias\.|[\w-]+\.[\w.-]*(?:pager|editor|command|cmd|helper)).*=|^--\w+-pack(?:=|$)/i },
      ],
      ['rebase difftool', { text: /^(?:-x$|--ex(?:ec|tcmd)(?:=|$))/ }],
      ['filter-branch', { text: /^--[\w-]+-filter(?:=|$)/ }],
      ['foreach', { text: /[^\w\0./-]/ }],
    ] satisfies [names: string, program: Program][]
  ).flatMap(([names, program]) => names.split(' ').map((name): [string, Program] => [name, program])),
)

/** What is known of the program a word names. */
export function programOf(word?: string): Program | undefined {
  const name = baseName(word)
  return PROGRAMS.get(/\d$/.test(name) ? name.replace(/[\d.]+$/, '') : name)
}

/** The name of a program from its path, also behind `--entrypoint=`. */
export function baseName(path = ''): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('=')) + 1)
}

/** True for a shell, and for programs that take a script as one does. */
export function isShell(word: string): boolean {
  const program = programOf(word)
  return program?.text === SHELL_TEXT && !program.isForeign
}

/** True for an option of a shell that has a script. */
export function isScriptOption(option: string): boolean {
  return SHELL_TEXT.test(option)
}

/** True for a text that may run a shell, which then reads what its own shell is fed. */
export function namesShell(text: string): boolean {
  return text.split(/[^\w./-]+/).some((word) => isShell(word) || /^(?:\.|source|eval)$/.test(word))
}

const RUNS_THE_REST = 'env sudo doas xargs nice nohup setsid stdbuf time exec command builtin'
const BEHIND_THE_REST = namesOf(RUNS_THE_REST)

/** Programs that start another one: their `--` ends their own options, not those of what they start. */
const STARTS_ANOTHER = namesOf(
  `${RUNS_THE_REST} find pkexec su runuser sg parallel ionice timeout watch flock taskset chrt numactl fakeroot busybox script chroot unshare nsenter setpriv systemd-run strace npm npx pnpm yarn bunx docker podman kubectl ssh sshpass vagrant gcloud uv poetry`,
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

/** Where an operand of a program stands, counted from 0: no option, and not what an option takes. */
export function operandIndex(words: readonly string[], start: number, takes?: RegExp, count = 0): number {
  let taken = 0
  let hasEnded = false
  for (let index = start + 1; index < words.length; index++) {
    const word = words[index] ?? ''
    if (taken > 0) taken -= 1
    else if (!hasEnded && /^[-+]/.test(word)) {
      hasEnded = /^--?$/.test(word)
      taken = takenBy(word, takes)
    } else if (count-- === 0) return index
  }
  return words.length
}

/** How many words an option takes. */
export function takenBy(option: string, takes = TAKEN_BY_SHELL): number {
  return option.match(takes)?.length ?? 0
}
