import type { Word } from './exec.js'
import type { ToolProblem } from './problems.js'
import type { Injection } from './tool.js'

/** What a template alone says about a parameter. */
export interface Inferred {
  name: string
  injectAs: Injection
  position?: number | undefined
  raw?: boolean
  /** True: every place it stands in is safe from, or meant for, a leading `-`. False: it is checked. */
  allowDash?: boolean | undefined
  /** It stands inside a word or a script, where a list has no place. */
  single?: boolean
}

/** A template compiled to the full form, before the explicit `parameters:` are laid over it. */
export interface Compiled {
  command: string[]
  substitute: boolean
  inferred: Inferred[]
  checkedWords: readonly string[]
  problems: ToolProblem[]
  /** The argument words; a script has none. */
  words?: Word[]
}
