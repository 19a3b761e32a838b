/** One option, as data: help, completion and the reference page are made from the same table as the parser. */
export interface OptionEntry {
  /** As in the help: `-m, --message <text>`. A name in angle brackets takes a value, `--no-…` negates. */
  flags: string
  description: string
  choices?: readonly string[]
  default?: string
  /** May be given several times; the values are collected. */
  repeatable?: boolean
  required?: boolean
  /** Understood, but not shown. */
  hidden?: boolean
}

export interface ArgumentEntry {
  /** `<name>` is required, `[name]` is not. */
  name: string
  description: string
  choices?: readonly string[]
  /** Of an argument of several words: what the first may be. */
  firstWords?: readonly string[]
  default?: string
}

/** One command; its code is the file of `commands/` that bears its name. */
export interface CommandEntry {
  /** The words typed after `delta`, such as `tool expand`. */
  name: string
  description: string
  arguments?: readonly ArgumentEntry[]
  options?: readonly OptionEntry[]
  /** Whole command lines, each with what it is for. */
  examples: readonly (readonly [command: string, purpose: string])[]
  /** Further help, after the examples, in the form that `fitted` breaks: a paragraph, or a row of a table, is one line. */
  notes?: string
  hidden?: boolean
}

export interface CommandGroup {
  title: string
  commands: readonly CommandEntry[]
}
