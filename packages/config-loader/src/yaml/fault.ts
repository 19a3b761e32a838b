/** A fault of the YAML itself: where, what, and what usually causes it. */
export interface YamlFault {
  offset: number
  message: string
  hint?: string
  /** True if the rest of the file can be read all the same, so that its other mistakes are told at once. */
  harmless?: true
  /** Behind which other fault this one may be no mistake but a consequence: of the same line, or of the whole file. */
  followsFrom?: 'line' | 'file'
  /** The kind of a fault of indentation: what is read behind one may be no mistake but a consequence. */
  structure?: string
  /** True if this is a mistake only where the structure around it is as it was meant. */
  readsStructure?: true
  /** The place to show, if it is another one than the parser's. */
  shownAt?: number
}

/** The kind of structure fault that is a mistake of its own on each line, and of the whole file. */
export const TAB = 'tab'
