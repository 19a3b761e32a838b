/**
 * The bounds: what we want to stay under, each a figure of a benchmark, most measured beside a floor or a peer.
 * `benchmarks/README.md` says which are missed, from the results; goals that are no such figure stand in the titles of the tables.
 *
 * @type {{ figure: string, atMost: number, what: string }[]}
 */
export const GOALS = [
  { figure: 'startup.version', atMost: 1.15, what: '`delta --version` beside an empty script' },
  { figure: 'startup.expand', atMost: 3, what: '`delta tool expand` beside an empty script' },
  { figure: 'startup.run', atMost: 6, what: 'a run of one answer beside an empty script' },
  { figure: 'startup.ai_sdk', atMost: 0.35, what: 'the CPU of a run of one answer beside AI SDK' },
  { figure: 'startup.tools_ms', atMost: 300, what: 'milliseconds of CPU that 200 tools add to a run' },
  { figure: 'loop.ratio', atMost: 4, what: 'a long run beside the durable loop' },
  { figure: 'loop.over_records', atMost: 2, what: 'a long run beside a loop that writes the same records' },
  { figure: 'loop.ai_sdk', atMost: 0.8, what: 'the CPU of a long run beside AI SDK' },
  { figure: 'loop.langgraph', atMost: 0.4, what: 'the CPU of a long run beside LangGraph' },
  { figure: 'loop.disk_mb', atMost: 1, what: 'MB of a long run on disk' },
  { figure: 'loop.disk_langgraph', atMost: 1 / 100, what: 'a long run on disk beside LangGraph' },
  { figure: 'loop.growth', atMost: 1.4, what: 'a late iteration beside an early one, with the full history' },
  {
    figure: 'loop.window_growth',
    atMost: 1.05,
    what: 'a late iteration beside an early one, with `max_iterations`',
  },
  { figure: 'loop.memory_mb', atMost: 80, what: 'MB of memory in a long run' },
  { figure: 'loop.memory_1000', atMost: 110, what: 'MB of memory at 1,000 iterations' },
  { figure: 'loop.memory_ai_sdk', atMost: 1 / 7, what: 'memory at 1,000 iterations beside AI SDK' },
  { figure: 'loop.files_an_iteration', atMost: 3, what: 'files of one more iteration' },
  { figure: 'tools.spawn_wall', atMost: 1.15, what: '`executeTool` beside a piped spawn' },
  { figure: 'journal.append_ratio', atMost: 1.3, what: 'a durable append beside `write` and `fdatasync`' },
  { figure: 'sessions.library', atMost: 3.5, what: '`exec` of a session beside `bash -c`' },
  { figure: 'evals.at_once', atMost: 1.15, what: '200 cells at once beside their runs alone' },
  { figure: 'evals.of_starts', atMost: 0.3, what: '200 cells at once beside a process for each run' },
  { figure: 'evals.memory_mb', atMost: 250, what: 'MB of memory of 200 cells at once' },
  { figure: 'evals.again_ms_a_cell', atMost: 1, what: 'milliseconds a finished cell, beyond two starts' },
  {
    figure: 'evals.again_files',
    atMost: 0,
    what: 'files that a finished evaluation changes when it is run again',
  },
  { figure: 'evals.status', atMost: 3, what: 'the status of 10,000 cells beside `find` and `cat`' },
  { figure: 'evals.claims', atMost: 1.2, what: '8 workers that share cells beside 8 that have their own' },
  { figure: 'sessions.command', atMost: 3, what: '`delta-sessions exec` beside an empty script' },
]

/** @param {string} figure */
export function goalOf(figure) {
  const goal = GOALS.find((each) => each.figure === figure)
  if (goal === undefined) throw new Error(`There is no goal for ${figure}`)
  return goal
}
