import type { Placeholder } from '../template.js'

/** A place that holds a command which another program runs, with the values in it. */
export interface HandedCommand {
  /** What runs it. */
  runner: string
  /** Only the program, without arguments of its own. */
  isProgram: boolean
  values: Placeholder[]
  hint: string
}
