import { CommanderError } from 'commander'
import { loadCommand } from './load-command.js'
import { asParserHelps } from './parse/help-word.js'
import { refuseOneDash } from './parse/one-dash.js'
import { createParser, type Execute, typedCommand } from './parse/parser.js'
import { EXIT, type Terminal } from './terminal/terminal.js'

/** Parses the arguments, runs one command and returns its exit code. Every command's code is loaded when it runs. */
export async function runProgram(terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.completed
  const execute: Execute = async (name, options, positional) => {
    const command = await loadCommand(name)
    exitCode = await command.execute(options as never, terminal, ...(positional as never[]))
  }
  const parser = createParser(terminal, execute, typedCommand(terminal.argv))
  refuseOneDash(terminal.argv)
  try {
    await parser.parseAsync(asParserHelps(parser, terminal.argv), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
    throw error
  }
}
