import type { Injection } from './tool.js'

/** What a template alone says about a parameter. */
export interface Inferred {
  name: string
  injectAs: Injection
  position?: number
  raw: boolean
  /** Offset of its first placeholder in the template. */
  offset: number
  /** True: every place it stands in is safe from, or meant for, a leading `-`. See `dash.ts`. */
  allowDash?: boolean
  /** A value here must be one text: lists have no place inside a word or a script. */
  single: boolean
}

/** A template compiled to the full form, before the explicit `parameters:` are laid over it. */
export interface Compiled {
  command: string[]
  substitute: boolean
  inferred: Inferred[]
  checkedWords: string[]
}
