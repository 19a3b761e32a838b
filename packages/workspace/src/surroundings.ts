/** What a command finds around it. */
export interface Surroundings {
  /** Absolute path of the directory that relative paths start at. */
  cwd: string
  env: NodeJS.ProcessEnv
}

/** True within a run, whose model may have written this command. */
export function isWithinRun({ env }: Pick<Surroundings, 'env'>): boolean {
  return env.DELTA_PARENT_RUN !== undefined
}
