import type { CommandWords, OptionWords, ValueKind } from './words.js'

/** Files are what fish offers for any value unless told otherwise. */
const VALUES: Record<ValueKind, string> = { file: ' -r', run: " -x -a '(__delta_runs)'", nothing: ' -x' }

/** Runs are found by their directories, for no process is started. */
const RUNS = `function __delta_runs
  set -l workspace .
  set -l runs $DELTA_RUNS_DIR
  set -l words (commandline -opc)
  for index in (seq 2 (count $words))
    contains -- $words[$index] -w --work-dir; and set workspace $words[(math $index + 1)]
    contains -- $words[$index] --runs-dir; and set runs $words[(math $index + 1)]
  end
  test -n "$runs"; or set runs $workspace/.delta
  for journal in $runs/*/journal.jsonl
    string replace -r '.*/([^/]*)/journal.jsonl$' '$1' -- $journal
  end
end`

export function fishScript(commands: readonly CommandWords[]): string {
  const top = commands[0]?.children ?? []
  return [
    '# fish completion of delta; load it with: delta completion fish | source',
    RUNS,
    'complete -c delta -n __fish_use_subcommand -f',
    ...top.map((word) => topLine(word, commands)),
    ...commands.flatMap(commandLines),
    '',
  ].join('\n')
}

function topLine(word: string, commands: readonly CommandWords[]): string {
  const description = commands.find(({ path }) => path === word)?.description ?? ''
  return `complete -c delta -n __fish_use_subcommand -a ${word}${describe(description)}`
}

function commandLines({ path, children, argument, options }: CommandWords): string[] {
  if (path === '') return []
  const condition = path
    .split(' ')
    .map((word) => `__fish_seen_subcommand_from ${word}`)
    .join('; and ')
  const first = `${condition}; and not __fish_seen_subcommand_from ${children.join(' ')}`
  return [
    ...children.map((child) => `complete -c delta -n '${first}' -f -a ${child}`),
    ...(argument === 'run' ? [`complete -c delta -n '${condition}' -f -a '(__delta_runs)'`] : []),
    ...options.map((option) => `complete -c delta -n '${condition}' ${flagsOf(option)}`),
  ]
}

function flagsOf({ long, short, description, value, choices }: OptionWords): string {
  const values = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : ((value && VALUES[value]) ?? '')
  const letter = short ? ` -s ${short.slice(1)}` : ''
  return `-l ${long.slice(2)}${letter}${values}${describe(description)}`
}

function describe(description: string): string {
  return description === '' ? '' : ` -d '${description.replaceAll("'", "\\'")}'`
}
