/** Which words of a command a program runs. */
export interface Runner {
  /** Options with a text that is run, attached or as the next word. */
  option?: RegExp
  /** Operands that are run: from this one on, counted from 0. */
  from?: number
  /** Only that one. */
  isOne?: true
  /** They are joined to one text. */
  joins?: true
  /** Options that take words, one for each match. */
  takes?: RegExp
  /** With such an option no operand is run. */
  unless?: RegExp
  hint: string
}

const AS_ARGUMENT = 'Hand it over beside it, as an argument or a variable of the environment.'
const AWK = `Hand it over beside it: N=\${n} awk '{ print ENVIRON["N"] }', behind env in exec:.`
const SED = `Give a number type: integer. For a text sed has no variables; perl has: A=\${a} perl -pe 's/\\Q$ENV{A}\\E/b/', behind env in exec:.`
const JQ = "Hand it over beside it: jq --arg name ${name} '.[$name]'"
const YQ = "Hand it over beside it: NAME=${name} yq '.[strenv(NAME)]', behind env in exec:."
const NUMBER = 'Give it type: integer or number.'
const LETTERS = 'Give it an enum, or a pattern that lets only letters and digits through: [\\w.-]+'
const REMOTE = `Let the other side read it: printf '%s\\n' \${file} | ssh host 'IFS= read -r file; cat -- "$file"'`
const PSQL =
  "Hand it over beside it, behind -v name=${name}, and write :'name' in a file or a here-document with a quoted delimiter."
const SQL = `Give it type: integer or an enum, or write it in hexadecimal: CAST(X'$(printf %s \${v} | od -An -v -tx1 | tr -d ' \\n')' AS TEXT)`

const RUNNERS = new Map(
  (
    [
      [
        'awk gawk mawk nawk',
        {
          option: /^(?:-e|--source(?:=|$))/,
          from: 0,
          isOne: true,
          takes: /^-[vFfi]$/g,
          unless: /^-f|^--file/,
          hint: AWK,
        },
      ],
      [
        'sed gsed',
        {
          option: /^(?:-[A-Za-z]*e|--expression(?:=|$))/,
          from: 0,
          isOne: true,
          takes: /^-[A-Za-z]*[efl]$|^--(?:expression|file|line-length)$/g,
          unless: /^-[nErsuz]*[ef]|^--(?:expression|file)/,
          hint: SED,
        },
      ],
      [
        'jq',
        {
          from: 0,
          isOne: true,
          takes:
            /^--(?=(?:arg|argjson|slurpfile|rawfile)$)|(?<=^--)(?:arg|argjson|slurpfile|rawfile)$|^--indent$|^-L$/g,
          unless: /^-[a-z]*f$|^--from-file/,
          hint: JQ,
        },
      ],
      ['yq', { from: 0, hint: YQ }],
      [
        'Rscript R lua luajit groovy ghc scala clojure clj bb gnuplot osascript',
        { option: /^-e/, hint: AS_ARGUMENT },
      ],
      ['julia elixir tsx ts-node', { option: /^(?:-[eEp]|--(?:eval|print)(?:=|$))/, hint: AS_ARGUMENT }],
      ['deno', { option: /^eval$/, hint: AS_ARGUMENT }],
      [
        'pypy ipython',
        { option: /^-[A-Za-z]*c/, hint: "Hand it over beside it: python3 -c '… sys.argv[1]' ${value}" },
      ],
      ['emacs emacsclient octave mongosh mongo', { option: /^--?e(?:val)?(?:=|$)/, hint: AS_ARGUMENT }],
      ['expect nu elvish xonsh', { option: /^-c/, hint: AS_ARGUMENT }],
      ['nodemon', { option: /^(?:-x|--exec(?:=|$))/, hint: AS_ARGUMENT }],
      ['swipl', { option: /^-[gt]$/, hint: AS_ARGUMENT }],
      [
        'gdb',
        {
          option: /^--?(?:i?ex|(?:init-)?eval-command)(?:=|$)/,
          hint: 'Hand it over beside it: gdb --args program ${value}',
        },
      ],
      ['dc', { option: /^(?:-e|--expression(?:=|$))/, hint: NUMBER }],
      ['bc', { hint: NUMBER }],
      ['cmd', { option: /^\/[ck]$/i, from: 0, takes: /^\/[ck]$/gi, joins: true, hint: AS_ARGUMENT }],
      ['powershell pwsh', { option: /^-(?:c|command)$/i, hint: AS_ARGUMENT }],
      ['psql', { option: /^(?:-[A-Za-z]*c|--command(?:=|$))/, hint: PSQL }],
      ['mysql mariadb', { option: /^(?:-[A-Za-z]*e|--execute(?:=|$))/, hint: SQL }],
      [
        'sqlite3',
        {
          option: /^--?cmd$/,
          from: 1,
          takes: /^--?(?:cmd|separator|nullvalue|newline|init|maxsize|mmap|vfs)$/g,
          hint: SQL,
        },
      ],
      ['duckdb', { option: /^-(?:c|s|cmd)$/, from: 1, hint: SQL }],
      ['clickhouse-client', { option: /^(?:-q|--query(?:=|$))/, hint: SQL }],
      ['autossh', { from: 1, takes: /^-[A-Za-z\d]*[BbcDEeFIiJLlMmOopQRSWw]$/g, joins: true, hint: REMOTE }],
      ['plink', { from: 1, takes: /^-(?:P|l|i|pw|m|load|hostkey)$/g, joins: true, hint: REMOTE }],
      ['rsh remsh mosh', { from: 1, takes: /^-[lp]$/g, joins: true, hint: REMOTE }],
      ['pssh parallel-ssh', { from: 0, takes: /^-[hHlptoexO]$/g, joins: true, hint: REMOTE }],
      ['pdsh', { from: 0, takes: /^-[wxlgftuR]$/g, joins: true, hint: REMOTE }],
      [
        'tmux',
        {
          from: 1,
          takes: /^-[tscnxyFe]$/g,
          unless:
            /^(?:-[LSf]|(?:rename|kill|has|select|display|set|show|list|attach|move|swap|resize|capture)[a-z-]*)$/,
          hint: LETTERS,
        },
      ],
      [
        'heroku',
        {
          from: 1,
          takes: /^-[asre]$|^--(?:app|size|remote|env|type)$/g,
          joins: true,
          unless: /^(?!run)[a-z]+:[a-z]|^(?:logs|ps|config|apps|git)$/,
          hint: LETTERS,
        },
      ],
      ['ansible', { option: /^(?:-a|--args(?:=|$))/, hint: LETTERS }],
      [
        'hyperfine',
        {
          option: /^(?:-[psc]|--(?:prepare|setup|conclude|cleanup)(?:=|$))/,
          from: 0,
          takes:
            /^-[wmMrpscDSnu]$|^--(?:warmup|(?:min-|max-)?runs|prepare|setup|conclude|cleanup|shell|command-name|time-unit|style|input|output|export-[a-z]+)$/g,
          hint: AS_ARGUMENT,
        },
      ],
      ['concurrently', { from: 0, takes: /^-[ncpmt]$|^--[a-z-]+$/g, hint: AS_ARGUMENT }],
      ['entr', { option: /^-[a-z]*s$/, hint: AS_ARGUMENT }],
      ['xterm urxvt rxvt', { option: /^-e$/, hint: AS_ARGUMENT }],
      ['fly flyctl', { option: /^(?:-C|--command(?:=|$))/, hint: REMOTE }],
      [
        'fzf',
        {
          option: /^--(?:preview|bind)(?:=|$)/,
          hint: 'Hand it over beside it: FILE=${file} fzf --preview \'cat -- "$FILE"\', behind env in exec:.',
        },
      ],
      [
        'socat',
        {
          option: /^(?:SYSTEM|EXEC|SHELL):/i,
          hint: 'Hand it over beside it: FILE=${file} socat - \'SYSTEM:cat -- "$FILE"\', behind env in exec:.',
        },
      ],
    ] satisfies [names: string, runner: Runner][]
  ).flatMap(([names, runner]) => names.split(' ').map((name): [string, Runner] => [name, runner])),
)

/** For the interpreters that the expander knows itself, as their texts in `shell:` are left to lint. */
const HINTS = new Map([
  ['ssh', REMOTE],
  ['python', "Hand it over beside it: python3 -c '… sys.argv[1]' ${value}"],
  ['node', "Hand it over beside it: node -e '… process.argv[1]' ${value}"],
  ['perl', "Hand it over beside it: perl -e '… $ARGV[0]' ${value}"],
  ['ruby', "Hand it over beside it: ruby -e '… ARGV[0]' ${value}"],
  ['php', "Hand it over beside it: php -r '… $argv[1]' ${value}"],
])

/** What to write instead of a value in a text for a program. */
export function hintFor(program: string): string {
  const name = withoutVersion(program)
  return HINTS.get(name) ?? RUNNERS.get(name)?.hint ?? AS_ARGUMENT
}

/** What is known of a program by its name, also of one with a version: `lua5.4`, `cmd.exe`. */
export function runnerNamed(name: string): Runner | undefined {
  return RUNNERS.get(withoutVersion(name))
}

function withoutVersion(name: string): string {
  return RUNNERS.has(name) ? name : name.replace(/[\d.]+$|\.exe$/, '')
}
