import { existsSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { replaceFile } from '@delta/durable'
import {
  describeReview,
  importMcpServer,
  type LeftOut,
  readServerFile,
  reviewServer,
  type ServerReview,
  type ServerSettings,
} from '@delta/mcp'
import { explainSystemError } from '@delta/workspace/internal'
import { withOwnCommands } from '../own-commands.js'
import { EXIT, StoppedError, stopSignal, type Terminal } from '../terminal.js'
import { counted, print, printable, say } from '../text.js'
import { UsageError } from '../usage.js'

interface ImportFlags {
  output?: string
  name?: string
  header: string[]
  passEnv: string[]
  check?: true
  update?: true
}

/** `delta mcp import`: asks a server what tools it has, once, and writes them into a file that agents import. */
export async function execute(flags: ImportFlags, terminal: Terminal, words: string[]): Promise<number> {
  using stop = stopSignal(terminal)
  const options = { cwd: terminal.cwd, env: withOwnCommands(terminal.env), signal: stop.signal }
  try {
    if (flags.check || flags.update) return await review(flags, terminal, words, options)
    return await importServer(flags, terminal, words, options)
  } catch (error) {
    if (stop.signal.aborted) throw new StoppedError(stop.signal, error, 'Nothing was written.')
    throw error
  }
}

type Options = { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal }

async function importServer(
  flags: ImportFlags,
  terminal: Terminal,
  words: readonly string[],
  options: Options,
): Promise<number> {
  const server = serverOf(flags, words, terminal.cwd)
  const { output } = flags
  const there = output === undefined ? undefined : resolve(terminal.cwd, output)
  if (there !== undefined && existsSync(there)) refuseOverwriting(there, output ?? there)
  const imported = await importMcpServer(server, {
    ...options,
    ...(output !== undefined && { path: output }),
  })
  if (there === undefined && existsSync(imported.path))
    refuseOverwriting(imported.path, relative(terminal.cwd, imported.path))
  write(imported.path, imported.text)
  for (const word of server.command ?? []) warnOfRelative(word, terminal, dirname(imported.path))
  const { tools, leftOut, info } = imported
  const file = relative(terminal.cwd, imported.path)
  const from = info ? ` of ${info.name} ${info.version}` : ''
  const line = `${file}: ${counted(tools.length, 'tool')}${from}${leftOutWords(leftOut)}. Add imports: [./${basename(file)}]`
  print(terminal, printable(`${line}\n`))
  return EXIT.completed
}

function serverOf(
  { name, header, passEnv }: ImportFlags,
  words: readonly string[],
  cwd: string,
): Omit<ServerSettings, 'name'> & { name?: string } {
  const [first] = words
  if (first === undefined)
    throw new UsageError('Say how the server starts, or its address: delta mcp import -o x.yaml -- <command>')
  if (words.length === 1 && isServerFile(resolve(cwd, first)))
    throw new UsageError(
      `${first} is the file of a server already. Add --check or --update: delta mcp import ${first} --check`,
    )
  const isAddress = words.length === 1 && /^https?:\/\//.test(first)
  if (!isAddress && header.length > 0) throw new UsageError('--header is for a server with an address.')
  return {
    ...(isAddress ? { url: first } : { command: words }),
    ...(name !== undefined && { name }),
    ...(header.length > 0 && { headersEnv: Object.fromEntries(header.map(headerOf)) }),
    passEnv,
  }
}

/** A header by its variable, so that no secret stands in the file. */
function headerOf(text: string): [string, string] {
  const [, name, variable] = /^([^=]+)=([A-Za-z_]\w*)$/.exec(text) ?? []
  if (name !== undefined && variable !== undefined) return [name, variable]
  throw new UsageError(`--header ${text}: write <name>=<environment variable>, as in Authorization=MY_TOKEN.`)
}

function refuseOverwriting(path: string, shown: string): void {
  const next = isServerFile(path)
    ? `See what changed: delta mcp import ${shown} --check`
    : 'Choose another name with -o.'
  throw new UsageError(`${shown} exists already. ${next}`)
}

function isServerFile(path: string): boolean {
  try {
    return readServerFile(path) !== undefined
  } catch {
    return false // none, or some other file
  }
}

/** The server starts in the workspace of each run. */
function warnOfRelative(word: string, terminal: Terminal, toolHome: string): void {
  const path = resolve(terminal.cwd, word)
  if (!/^[^-/$].*\.\w+$/.test(word) || !existsSync(path)) return
  say(
    terminal,
    `Note: ${word} is looked for in the workspace of each run. Write '\${TOOL_HOME}/${relative(toolHome, path)}' if it belongs to the file.`,
  )
}

function leftOutWords(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return ''
  return ` (${leftOut.length} left out: ${leftOut.map(({ name, reason }) => `${name} ${reason}`).join('; ')})`
}

async function review(
  { check, update }: ImportFlags,
  terminal: Terminal,
  words: readonly string[],
  options: Options,
): Promise<number> {
  const [file, ...more] = words
  const flag = update ? '--update' : '--check'
  if (file === undefined || more.length > 0 || (check && update))
    throw new UsageError(`Name the file alone: delta mcp import x.yaml ${flag}`)
  const path = resolve(terminal.cwd, file)
  const found = await reviewServer(path, options)
  const description = describeReview(found)
  if (description === '') {
    print(terminal, `${file}: ${counted(found.unchanged, 'tool')}, nothing changed\n`)
    return EXIT.completed
  }
  print(terminal, printable(description))
  if (!update) {
    say(terminal, `If that is what you want: delta mcp import ${file} --update`)
    return EXIT.different
  }
  write(path, found.text)
  say(terminal, `${file}: ${acceptedWords(found)}`)
  return EXIT.completed
}

function acceptedWords({ changed, added, removed }: ServerReview): string {
  return `${changed.length} changed, ${added.length} added, ${removed.length} removed`
}

function write(path: string, text: string): void {
  try {
    replaceFile(path, text, { mode: 0o644 })
  } catch (cause) {
    const reason = explainSystemError(cause) ?? (cause as Error).message
    throw new UsageError(`${path}: ${reason}`, { cause })
  }
}
