import { basename, dirname, resolve } from 'node:path'
import type { Implementation } from '@modelcontextprotocol/sdk/types.js'
import { Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml'
import { connect, type ServerSandbox } from './connect.js'
import { McpClientError } from './errors.js'
import { changedParts, isSame, type OfferedTool, type WrittenTool, writeTool } from './review.js'
import { parseServerFile, type ReviewedTool, readText, type ServerSettings } from './server-file.js'

/** What an import is told besides the server. */
export interface ImportOptions {
  /** Path of the file that will hold the tools; they name it. Default: the server's name with `.yaml`, here. */
  path?: string | undefined
  /** Where the server starts, and what `${CWD}` stands for. Default: the current directory. */
  cwd?: string | undefined
  /** What the server's environment is taken from. Default: that of this process. */
  env?: NodeJS.ProcessEnv | undefined
  sandbox?: ServerSandbox | undefined
  signal?: AbortSignal | undefined
}

/** A tool that a server has and the file does not. */
export interface LeftOut {
  name: string
  /** Why, as the end of a sentence: `needs tasks`. */
  reason: string
}

/** The file of a server, as an import makes it. */
export interface ImportedServer {
  path: string
  /** The text of the file, in YAML. */
  text: string
  tools: readonly WrittenTool[]
  leftOut: readonly LeftOut[]
  /** What the server says of itself. */
  info: Implementation | undefined
}

/**
 * Asks a server once what tools it has, and makes the file that an agent imports. Nothing is written.
 *
 * @param server - Without a `name`, the server's own is the prefix of its tools.
 * @throws {McpClientError} `ERR_MCP_FILE`: the settings, or the name of the file, cannot be used. `ERR_MCP_SERVER`, `ERR_MCP_TIMEOUT`: it
 *   does not answer.
 *
 * @example
 * const { path, text } = await importMcpServer({ command: ['npx', '-y', 'my-server'] })
 */
export async function importMcpServer(
  server: Omit<ServerSettings, 'name'> & { name?: string },
  options: ImportOptions = {},
): Promise<ImportedServer> {
  const { path: asked, cwd = process.cwd() } = options
  const given = { ...server, name: server.name ?? 'server' }
  const { tools: offered, info } = await askServer(given, options)
  const settings = { ...given, name: server.name ?? shortName(info) }
  const path = resolve(cwd, asked ?? `${settings.name}.yaml`)
  const { tools, leftOut } = writtenTools(offered, settings, path)
  const document = new Document({ mcp: writtenSettings(settings), tools })
  document.commentBefore = ' written by delta mcp import; review it, it is part of your agent'
  const mcp = document.get('mcp')
  if (isMap(mcp)) mcp.flow = true
  for (const tool of toolMaps(document)) layOut(tool)
  const text = document.toString({ lineWidth: 0 })
  parseServerFile(text, path) // refuses here what a call would refuse
  return { path, text, tools, leftOut, info }
}

/** `mcp-servers/everything` is `everything`. */
function shortName(info: Implementation | undefined): string {
  const last = info?.name.split('/').at(-1) ?? ''
  return last.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 32) || 'server'
}

async function askServer(
  settings: ServerSettings,
  { path, cwd = process.cwd(), env = process.env, sandbox, signal }: ImportOptions,
): Promise<{ tools: OfferedTool[]; info: Implementation | undefined }> {
  const toolHome = path === undefined ? cwd : dirname(resolve(cwd, path))
  const connection = await connect(settings, { cwd, env, sandbox, toolHome }, { signal })
  try {
    return { tools: await connection.listTools({ signal }), info: connection.info }
  } finally {
    await connection.close()
  }
}

function writtenTools(offered: readonly OfferedTool[], { name: server, url }: ServerSettings, path: string) {
  const file = basename(path)
  if (!/^[\w.-]+$/.test(file)) {
    const message = `${file} cannot be a word of a command. Name the file with letters, digits, ".", "_" and "-".`
    throw new McpClientError('ERR_MCP_FILE', message)
  }
  const tools: WrittenTool[] = []
  const leftOut: LeftOut[] = []
  for (const each of offered) {
    const written = writeTool(each, { server, file, isRemote: url !== undefined })
    const twin = 'reason' in written ? undefined : tools.find(({ name }) => name === written.name)
    if ('reason' in written) leftOut.push({ name: each.name, reason: written.reason })
    else if (twin)
      leftOut.push({ name: each.name, reason: `would be ${written.name}, as ${twin['x-mcp'].tool} is` })
    else tools.push(written)
  }
  return { tools, leftOut }
}

function writtenSettings({
  name,
  command,
  url,
  headersEnv,
  passEnv = [],
  timeoutMs = 60_000,
}: ServerSettings) {
  const isUsed = headersEnv && Object.keys(headersEnv).length > 0
  return {
    name,
    ...(command ? { command } : { url }),
    ...(isUsed && { headers_env: headersEnv }),
    pass_env: passEnv,
    timeout_ms: timeoutMs,
  }
}

/** Short things on one line each, as a person would write them. */
function layOut(tool: YAMLMap): void {
  for (const key of ['input_schema', 'effects', 'x-mcp']) {
    const value = tool.get(key)
    if (isMap(value)) value.flow = true
  }
}

function toolMaps(document: Document): YAMLMap[] {
  const tools = document.get('tools')
  return isSeq(tools) ? tools.items.filter((item) => isMap(item)) : []
}

/** A tool whose text is not what was reviewed. */
export interface ChangedTool {
  /** As the file has it. */
  reviewed: ReviewedTool
  /** As the file would have it. */
  offered: WrittenTool
  /** What changed: `description`, `input_schema`, `effects`. */
  parts: readonly string[]
}

/** What a server says now, compared with its file. */
export interface ServerReview {
  path: string
  info: Implementation | undefined
  changed: readonly ChangedTool[]
  /** Tools that the file does not have. */
  added: readonly WrittenTool[]
  /** Tools, by the server's own name, that the server does not have any more. */
  removed: readonly string[]
  leftOut: readonly LeftOut[]
  /** Number of tools that are as they were. */
  unchanged: number
  /** The text of the file with everything accepted. What a person changed elsewhere in it stays. */
  text: string
}

/**
 * Asks the server of a file what it says now, and compares. Nothing is written.
 *
 * @throws {McpClientError} As `importMcpServer`; `ERR_MCP_FILE` also for a file that is not one of an MCP server.
 */
export async function reviewServer(
  path: string,
  options: Omit<ImportOptions, 'path'> = {},
): Promise<ServerReview> {
  const before = readText(path)
  const { server, tools: reviewed } = parseServerFile(before, path)
  const { tools: offered, info } = await askServer(server, { ...options, path })
  const { tools, leftOut } = writtenTools(offered, server, path)
  const changed: ChangedTool[] = []
  for (const tool of tools) {
    const known = reviewed.get(tool['x-mcp'].tool)
    const parts = known ? changedParts(known, offeredAs(offered, tool), server.url !== undefined) : []
    if (known && parts.length > 0) changed.push({ reviewed: known, offered: tool, parts })
  }
  const added = tools.filter((tool) => !reviewed.has(tool['x-mcp'].tool))
  const removed = [...reviewed.keys()].filter((name) => !tools.some((tool) => tool['x-mcp'].tool === name))
  const unchanged = tools.length - added.length - changed.length
  const text = updatedText(before, { changed, added, removed })
  return { path, info, changed, added, removed, leftOut, unchanged, text }
}

function offeredAs(offered: readonly OfferedTool[], { 'x-mcp': { tool } }: WrittenTool): OfferedTool {
  return offered.find(({ name }) => name === tool) as OfferedTool // it was written from there
}

/** Only what the server said is replaced: comments, and what a person added to a tool, stay. */
function updatedText(
  before: string,
  { changed, added, removed }: Pick<ServerReview, 'changed' | 'added' | 'removed'>,
): string {
  if (changed.length + added.length + removed.length === 0) return before
  const document = parseDocument(before)
  const tools = document.get('tools')
  if (!isSeq(tools)) document.set('tools', document.createNode([]))
  const list = document.get('tools')
  if (!isSeq(list)) return before
  const nameOf = (item: unknown) => (isMap(item) ? item.getIn(['x-mcp', 'tool']) : undefined)
  list.items = list.items.filter((item) => !removed.includes(String(nameOf(item))))
  for (const { reviewed, offered } of changed) {
    const item = list.items.find((each) => nameOf(each) === offered['x-mcp'].tool)
    if (!isMap(item)) continue
    const isOwn = !isSame(reviewed.effects ?? {}, reviewed.declaredEffects ?? {})
    const written = ['description', 'input_schema', 'x-mcp', ...(isOwn ? [] : ['effects'])]
    for (const key of written as (keyof WrittenTool)[]) {
      if (offered[key] === undefined) item.delete(key)
      else item.set(key, document.createNode(offered[key]))
    }
    layOut(item)
  }
  for (const tool of added) {
    const item = document.createNode(tool)
    if (isMap(item)) layOut(item)
    list.add(item)
  }
  return document.toString({ lineWidth: 0 })
}
