import { CommanderError } from 'commander'
import { withoutHelpWord } from './help-word.js'
import { createParser } from './parser.js'
import { EXIT, type Terminal } from './terminal.js'

/** Parses the arguments, runs one command and returns its exit code. Every command's code is loaded when it runs. */
export async function runProgram(terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.completed
  const parser = createParser(terminal, (code) => {
    exitCode = code
  })
  try {
    await parser.parseAsync(withoutHelpWord(parser, terminal.argv), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
    throw error
  }
}
