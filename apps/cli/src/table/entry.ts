import type { Terminal } from '../terminal.js'

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
  default?: string
}

/** What a file of `commands/` exports: options and arguments in, exit code out. */
export interface CommandModule {
  // `never` accepts every command's own type of options; the table above them is what makes that type true
  execute(options: never, terminal: Terminal, ...argument: never[]): Promise<number>
}

export interface CommandEntry {
  /** The words typed after `delta`, such as `tool expand`. */
  name: string
  description: string
  arguments?: readonly ArgumentEntry[]
  options?: readonly OptionEntry[]
  /** Whole command lines, each with what it is for. */
  examples: readonly (readonly [command: string, purpose: string])[]
  /** Further help, after the examples. */
  notes?: string
  hidden?: boolean
  load(): Promise<CommandModule>
}

export interface CommandGroup {
  title: string
  commands: readonly CommandEntry[]
}
