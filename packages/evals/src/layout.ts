import { join } from 'node:path'

/** The paths in the directory of an evaluation. */
export function evalPaths(directory: string) {
  return {
    plan: join(directory, 'plan.json'),
    manifest: join(directory, 'manifest.jsonl'),
    inputs: join(directory, 'inputs'),
    cells: join(directory, 'cells'),
    planLock: join(directory, 'plan.lock'),
    input: (hash: string) => join(directory, 'inputs', hash),
    cell: (id: string) => cellPaths(join(directory, 'cells', id), id),
  }
}

export type CellPaths = ReturnType<typeof cellPaths>

/** The paths in the directory of a cell. */
function cellPaths(directory: string, id: string) {
  return {
    directory,
    about: join(directory, 'cell.json'),
    lease: join(directory, 'lease'),
    scores: join(directory, 'scores'),
    result: join(directory, 'result.json'),
    results: join(directory, 'results'),
    attempt: (number: number) => attemptPaths(join(directory, String(number)), `${id}-${number}`),
  }
}

export type AttemptPaths = ReturnType<typeof attemptPaths>

function attemptPaths(directory: string, runId: string) {
  const runs = join(directory, 'runs')
  return {
    directory,
    runId,
    workspace: join(directory, 'workspace'),
    runs,
    run: join(runs, runId),
    setup: join(directory, 'setup.log'),
    /** Exists once the setup has succeeded. */
    isSetUp: join(directory, 'set-up'),
  }
}
