// These hold the engine, so they are one bundle: five would each hold a copy of it, two megabytes of an install.
export * as continueCommand from './commands/continue.js'
export * as evalCommand from './commands/eval.js'
export * as forkCommand from './commands/fork.js'
export * as replayCommand from './commands/replay.js'
export * as runCommand from './commands/run.js'
