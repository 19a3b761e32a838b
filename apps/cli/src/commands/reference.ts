import type { Command } from 'commander'
import { createProgram } from '../program.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { execute as sessions } from './sessions.js'

/** Columns of the help in the reference page, independent of the terminal. */
const WIDTH = 110

/** `delta reference`: the help of every command as one Markdown page, which is docs/cli.md. */
export async function execute(_flags: object, terminal: Terminal): Promise<number> {
  const page = [
    '# The command line\n\nMade from the help of each command by `node scripts/cli-reference.mjs`.\n\n',
  ]
  const write = (text: string) => page.push(text)
  const program = createProgram(terminal)
  printInto(program, write)
  section('## delta', program, write)
  let heading = ''
  for (const { group, path, command } of commandsOf(program)) {
    if (group !== heading) write(`\n## ${group.replace(':', '')}\n`)
    heading = group
    if (path === 'sessions') await ownHelp(`\n### delta ${path}`, terminal, write)
    else section(`\n### delta ${path}`, command, write)
  }
  terminal.stdout.write(page.join(''))
  return EXIT.completed
}

/** Every command that does something, in the order of the help, with the words it is called by. */
export function commandsOf(program: Command): { path: string; group: string; command: Command }[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => {
      const group = command.helpGroup() ?? ''
      const { commands } = command
      if (commands.length === 0) return [{ path: command.name(), group, command }]
      return commands.map((child) => ({ path: `${command.name()} ${child.name()}`, group, command: child }))
    })
}

function section(heading: string, command: Command, write: (text: string) => void): void {
  write(`${heading}\n\n\`\`\`text\n`)
  command.outputHelp()
  write('```\n')
}

/** `sessions` parses its own arguments, and so prints its own help. */
async function ownHelp(heading: string, terminal: Terminal, write: (text: string) => void): Promise<void> {
  write(`${heading}\n\n\`\`\`text\n`)
  await sessions({}, { ...terminal, stdout: { write } as unknown as Terminal['stdout'] }, ['--help'])
  write('```\n')
}

function printInto(command: Command, write: (text: string) => void): void {
  command.configureOutput({ writeOut: write, getOutHelpWidth: () => WIDTH })
  for (const child of command.commands) printInto(child, write)
}
