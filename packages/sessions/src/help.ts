/**
 * What `--help` prints: paragraphs, and tables whose last column keeps its place.
 *
 * @param name - What was typed to start the command.
 * @param stdout - A terminal gets lines of its width, anything else 80 columns.
 */
export function helpFor(name: string, { isTTY, columns }: { isTTY?: boolean; columns?: number }): string {
  const width = isTTY && columns ? columns : 80
  const lines = HELP.replaceAll('delta-sessions', name).split('\n')
  return lines.flatMap((line) => fitted(line, width)).join('\n')
}

function fitted(line: string, width: number): string[] {
  const [start] = line.startsWith(' ') ? (/^ +\S.*? {2,}(?=\S)/.exec(line) ?? []) : ['']
  if (start === undefined || width - start.length < NARROWEST) return [line] // an example is code
  const lines: string[] = []
  for (const word of line.slice(start.length).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && start.length + last.length + 1 + word.length <= width)
      lines.push(`${lines.pop()} ${word}`)
    else lines.push(word)
  }
  return lines.map((text, index) => (index === 0 ? start : ' '.repeat(start.length)) + text)
}

/** In a narrower column each word would stand alone. */
const NARROWEST = 15

/** A paragraph, or a row of a table, is one line. */
const HELP = `delta-sessions: a shell that remembers, without a process that stays alive

  delta-sessions start [bash|sh|python3]   make a session, print its id
  delta-sessions exec <id> [command]       run a command in it; without an argument, what is on stdin
  delta-sessions end <id>                  end what it left running, remove it
  delta-sessions list                      print the sessions
  delta-sessions cleanup                   end the sessions of this run (DELTA_RUN_ID); \
outside a run, those unused for 24 hours

  --sessions-dir <path>   where sessions live (default: .sessions in the workspace)
  --timeout <time>        exec: limit, as 30s, 2m, or a number of milliseconds; \
end, cleanup: how long a running command may go on (default: 5s)
  --max-output <bytes>    exec: how much of stdout and of stderr to print (default: 16384)
  --raw                   exec: plain output and the command's exit code, instead of JSON
  --secret <name>         start: a variable whose value is never stored; may be repeated
  --all                   cleanup: every session

Each command is a new process, which begins with what the last one left: in bash \
the directory, environment, variables, functions, aliases and options; in sh \
the same without functions; in python3 variables, imports, functions, classes.

Example:
  id=$(delta-sessions start | jq -r .session_id)
  delta-sessions exec "$id" 'cd src && NAME=Ada'
  delta-sessions exec "$id" --raw 'echo "$NAME is in $PWD"'
  delta-sessions end "$id"

Results are JSON on stdout. Exit codes: 0 done (exec: the command ran, whatever \
it returned), 1 failed, 2 wrong usage, 129, 130, 143 stopped by a signal.
`
