/**
 * What we want to stay under, each a figure of a benchmark measured beside its floor. `benchmarks/README.md` says which
 * are missed, from the results; goals that are no such figure stand in the titles of the tables.
 *
 * @type {{ figure: string, atMost: number, what: string }[]}
 */
export const GOALS = [
  { figure: 'startup.version', atMost: 1.1, what: '`delta --version` beside an empty script' },
  { figure: 'startup.run', atMost: 2, what: 'a run of one answer beside an empty script' },
  { figure: 'loop.ratio', atMost: 1.6, what: 'a long run beside the durable loop' },
  { figure: 'tools.spawn_wall', atMost: 1.1, what: '`executeTool` beside a piped spawn' },
  { figure: 'journal.append_ratio', atMost: 1.3, what: 'a durable append beside `write` and `fdatasync`' },
  { figure: 'sessions.library', atMost: 3, what: '`exec` of a session beside `bash -c`' },
  { figure: 'sessions.command', atMost: 1.6, what: '`delta-sessions exec` beside an empty script' },
]
