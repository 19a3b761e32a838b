import type { AtipEffects } from '@delta/atip'

const READS: AtipEffects = {
  filesystem: { read: true, write: false, delete: false },
  network: false,
  subprocess: false,
  idempotent: true,
  reversible: true,
  destructive: false,
  interactive: { stdin: 'none' },
}

const WRITES: AtipEffects = { ...READS, filesystem: { read: true, write: true, delete: false } }

/** Programs that files of the user name may do anything; what is left out here, nobody can say. */
const STARTS_PROGRAMS: AtipEffects = {
  filesystem: { read: true, write: true },
  subprocess: true,
  interactive: { stdin: 'none' },
}

const RUNS_AN_AGENT: AtipEffects = {
  ...STARTS_PROGRAMS,
  network: true,
  idempotent: false,
  interactive: { stdin: 'optional' },
  cost: { billable: true },
}

/** What each command does to the world, by name; for `delta --agent`. A test names the ones that are missing. */
export const COMMAND_EFFECTS: Readonly<Record<string, AtipEffects>> = {
  init: { ...WRITES, idempotent: false },
  completion: READS,
  run: RUNS_AN_AGENT,
  continue: RUNS_AN_AGENT,
  'list-runs': READS,
  show: READS,
  config: READS,
  'context build': STARTS_PROGRAMS,
  'context explain': STARTS_PROGRAMS,
  'tool expand': READS,
  'tool lint': READS,
  'tool list': READS,
  'tool import': STARTS_PROGRAMS,
  'mcp serve': { ...STARTS_PROGRAMS, interactive: { stdin: 'required' } },
  sessions: STARTS_PROGRAMS,
  'journal verify': READS,
  'journal repair': WRITES,
}
