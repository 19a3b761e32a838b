import type { Command } from 'commander'
import { createParser } from '../parse/parser.js'
import { COMMAND_TABLE } from '../table/index.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { execute as sessions } from './sessions.js'

/** Columns of the help in the reference page, independent of the terminal. */
const WIDTH = 110

/** `delta reference`: the help of every command as one Markdown page, which is docs/cli.md. */
export async function execute(_flags: object, terminal: Terminal): Promise<number> {
  const page: string[] = []
  const parser = createParser(terminal, async () => undefined)
  collect(parser, (text) => page.push(text))

  page.push(
    '# The command line\n\nMade from the help of each command by `node scripts/cli-reference.mjs`.\n\n',
  )
  section('## delta', parser, page)
  for (const { title, commands } of COMMAND_TABLE) {
    page.push(`\n## ${title}\n`)
    for (const { name } of commands.filter(({ hidden }) => !hidden)) {
      if (name === 'sessions') await ownHelp(`\n### delta ${name}`, terminal, page)
      else section(`\n### delta ${name}`, find(parser, name), page)
    }
  }
  terminal.stdout.write(page.join(''))
  return EXIT.completed
}

function section(heading: string, command: Command, page: string[]): void {
  page.push(`${heading}\n\n\`\`\`text\n`)
  command.outputHelp()
  page.push('```\n')
}

/** `sessions` parses its own arguments, and so prints its own help. */
async function ownHelp(heading: string, terminal: Terminal, page: string[]): Promise<void> {
  page.push(`${heading}\n\n\`\`\`text\n`)
  const stdout = { write: (text: string) => page.push(text) } as unknown as Terminal['stdout']
  await sessions({}, { ...terminal, stdout }, ['--help'])
  page.push('```\n')
}

function find(parser: Command, name: string): Command {
  return name
    .split(' ')
    .reduce((command, word) => command.commands.find((child) => child.name() === word) ?? command, parser)
}

function collect(command: Command, write: (text: string) => void): void {
  command.configureOutput({ writeOut: write, getOutHelpWidth: () => WIDTH })
  for (const child of command.commands) collect(child, write)
}
