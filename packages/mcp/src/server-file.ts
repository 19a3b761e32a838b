import { basename } from 'node:path'
import { readIfThere } from '@delta/durable'
import { fitShape, formatPath, inCamelCase, type ShapeProblem } from '@delta/settings'
import { parseDocument } from 'yaml'
import * as z from 'zod/mini'
import { McpClientError } from './errors.js'

/** How a server is reached: by the command that starts it, or by its address. */
export interface ServerSettings {
  /** Prefix of the names of its tools. */
  name: string
  /** Program and arguments. `${TOOL_HOME}` is the directory of the file, `${CWD}` the workspace. */
  command?: readonly string[] | undefined
  /** Address of a server that speaks streamable HTTP. */
  url?: string | undefined
  /** HTTP headers, each by the environment variable that holds its value. */
  headersEnv?: Readonly<Record<string, string>> | undefined
  /** Environment variables that the server gets besides the usual ones. */
  passEnv?: readonly string[] | undefined
  /** For the start and for each call, in milliseconds; 0: no limit. Default 60000. */
  timeoutMs?: number | undefined
}

/** A tool as it was reviewed. */
export interface ReviewedTool {
  /** Name of the tool in the file, which a model reads. */
  name: string
  description?: string | undefined
  inputSchema: unknown
  /** The effects that count, which a person may have written. */
  effects?: unknown
  /** The effects that the server declared. */
  declaredEffects?: unknown
  /** The fingerprint of the server's own text: see `fingerprint`. */
  sha256: string
}

/** A file that `importMcpServer` wrote. */
export interface ServerFile {
  path: string
  server: ServerSettings
  /** By the server's own names. Tools of the file that are not the server's are not among them. */
  tools: ReadonlyMap<string, ReviewedTool>
}

/** Node.js turns a longer timer into one of a millisecond. */
const LONGEST_MS = 2 ** 31 - 1
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** `mcp:` as it is written. */
const serverSchema = /* @__PURE__ */ z.lazy(() => {
  const variable = z.string().check(z.regex(VARIABLE, 'the name of an environment variable'))
  return z.strictObject({
    name: z.string().check(z.regex(/^[A-Za-z0-9_-]{1,32}$/, 'letters, digits, _ and -, at most 32')),
    command: z.optional(z.array(z.string(), 'a list: the program and its arguments').check(z.minLength(1))),
    url: z.optional(
      z.string().check(z.regex(/^https?:\/\/\S+$/, 'an address that begins with http:// or https://')),
    ),
    headers_env: z.optional(z.record(z.string(), variable)),
    pass_env: z.optional(z.array(variable)),
    timeout_ms: z.optional(z.int().check(z.minimum(0), z.maximum(LONGEST_MS))),
  })
})

const fileSchema = /* @__PURE__ */ z.lazy(() =>
  z.looseObject({ mcp: z.unknown(), tools: z.optional(z.nullable(z.array(z.unknown()))) }),
)

const reviewedSchema = /* @__PURE__ */ z.lazy(() =>
  z.looseObject({
    name: z.string(),
    description: z.optional(z.string()),
    input_schema: z.unknown(),
    effects: z.optional(z.unknown()),
    'x-mcp': z.object({ tool: z.string(), sha256: z.string(), effects: z.optional(z.unknown()) }),
  }),
)

/**
 * Reads a file of tools that came from a server.
 *
 * @throws {McpClientError} `ERR_MCP_FILE`: it does not exist or has no usable `mcp:`; the message names every problem.
 */
export function readServerFile(path: string): ServerFile {
  return parseServerFile(readText(path), path)
}

export function readText(path: string): string {
  try {
    const bytes = readIfThere(path)
    if (bytes) return bytes.toString()
  } catch (cause) {
    throw new McpClientError(
      'ERR_MCP_FILE',
      `${path} cannot be read (${(cause as NodeJS.ErrnoException).code}).`,
      { cause },
    )
  }
  throw new McpClientError(
    'ERR_MCP_FILE',
    `${path} does not exist. Import a server first: delta mcp import -o ${basename(path)} -- <command>`,
  )
}

/** @throws {McpClientError} `ERR_MCP_FILE` */
export function parseServerFile(text: string, path: string): ServerFile {
  const document = parseDocument(text)
  const [mistake] = document.errors
  if (mistake) throw new McpClientError('ERR_MCP_FILE', `${path}: ${mistake.message.trimEnd()}`)
  const file = fileSchema.safeParse(contentOf(document, path)).data
  if (!file?.mcp)
    throw new McpClientError(
      'ERR_MCP_FILE',
      `${path} is not a file of an MCP server: it has no "mcp:". Import one: delta mcp import -o ${basename(path)} -- <command>`,
    )
  return { path, server: parseServer(file.mcp, path), tools: reviewedTools(file.tools ?? []) }
}

function contentOf(document: ReturnType<typeof parseDocument>, path: string): unknown {
  try {
    return document.toJS()
  } catch (cause) {
    throw new McpClientError('ERR_MCP_FILE', `${path}: ${(cause as Error).message}`, { cause }) // too many aliases
  }
}

function parseServer(written: unknown, path: string): ServerSettings {
  const { value, problems } = fitShape(serverSchema, written)
  const lines = problems.map(lineOf)
  if (value && (value.command === undefined) === (value.url === undefined))
    lines.push('mcp must have either a command or a url')
  if (value && lines.length === 0) return inCamelCase(value)
  throw new McpClientError('ERR_MCP_FILE', `${path}:\n${lines.map((line) => `- ${line}`).join('\n')}`)
}

function lineOf({ path, message, hint, nearest, unknownKey }: ShapeProblem): string {
  const advice = hint ?? (nearest && `Did you mean "${nearest}"?`)
  const place = formatPath(['mcp', ...(unknownKey ? path.slice(0, -1) : path)])
  return `${place}${unknownKey ? ': ' : ' '}${message}${advice ? `. ${advice}` : ''}`
}

function reviewedTools(tools: readonly unknown[]): Map<string, ReviewedTool> {
  const found = tools.flatMap((tool) => reviewedSchema.safeParse(tool).data ?? [])
  return new Map(
    found.map(({ name, description, input_schema: inputSchema, effects, 'x-mcp': known }) => [
      known.tool,
      { name, description, inputSchema, effects, declaredEffects: known.effects, sha256: known.sha256 },
    ]),
  )
}
