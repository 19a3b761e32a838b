import type { Terminal } from './terminal/terminal.js'

/** What a file of `commands/` exports: options and arguments in, exit code out. */
export interface CommandModule {
  // `never` accepts every command's own type of options, which its entry in the table guarantees
  execute(options: never, terminal: Terminal, ...positional: never[]): Promise<number>
}

/** Each is a bundle of its own, so that a start loads little. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  init: () => import('./commands/init.js'),
  completion: () => import('./commands/completion.js'),
  reference: () => import('./commands/reference.js'),
  run: () => import('./commands/run.js'),
  continue: () => import('./commands/continue.js'),
  'list-runs': () => import('./commands/list-runs.js'),
  show: () => import('./commands/show.js'),
  config: () => import('./commands/config.js'),
  'context build': () => import('./commands/context-build.js'),
  'context explain': () => import('./commands/context-explain.js'),
  'tool expand': () => import('./commands/tool-expand.js'),
  'tool:expand': () => import('./commands/tool-expand.js'),
  'tool lint': () => import('./commands/tool-lint.js'),
  'tool list': () => import('./commands/tool-list.js'),
  'tool import': () => import('./commands/tool-import.js'),
  'mcp serve': () => import('./commands/mcp-serve.js'),
  sessions: () => import('./commands/sessions.js'),
  'journal verify': () => import('./commands/journal-verify.js'),
  'journal repair': () => import('./commands/journal-repair.js'),
}

/** The code of a command of the table. */
export function loadCommand(name: string): Promise<CommandModule> {
  const load = COMMANDS[name]
  if (!load) throw new Error(`The command "${name}" is in the table, but has no code in load-command.ts.`)
  return load()
}
