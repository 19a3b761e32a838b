import { endOrphans } from '@delta/executor'

/** False where no environment of another process can be read. */
export const seesEnvironments = process.platform === 'linux'

/** Said of each cell where that is so. */
export const DETACHED_UNSEEN = 'detached processes of agents were not looked for (no /proc)'

/**
 * Ends every process that carries `DELTA_CELL` with this value, and what these have started: TERM, and KILL after 2 s.
 *
 * @returns False if one survived. Never touches this process or one above it.
 */
export async function endProcessesOf(cell: string): Promise<boolean> {
  if (!seesEnvironments) return true
  const query = { variables: [['DELTA_CELL', cell]] as const }
  const ended = await endOrphans(query)
  return ended.length === 0 || (await endOrphans(query)).length === 0
}
