import { createHash } from 'node:crypto'
import { type Effects, safeDefineTool } from '@delta/executor'
import { showUnseen } from '@delta/executor/internal'
import type { ReviewedTool } from './server-file.js'

/** What a server says of a tool, as far as it counts here. */
export interface OfferedTool {
  name: string
  description?: string | undefined
  inputSchema: unknown
  annotations?:
    | {
        readOnlyHint?: boolean | undefined
        destructiveHint?: boolean | undefined
        idempotentHint?: boolean | undefined
        openWorldHint?: boolean | undefined
      }
    | undefined
  execution?: { taskSupport?: string | undefined } | undefined
}

/** A tool as it stands in the file, for a person to review. */
export interface WrittenTool {
  name: string
  description?: string
  input_schema: unknown
  exec: string
  stdin: 'json'
  output: 'mcp'
  effects?: Effects
  trust: 'community'
  /** `effects`: what the server declared, if anything; a person may have written others over those of the tool. */
  'x-mcp': { tool: string; sha256: string; effects?: Effects }
}

/** Where the written tools stand. */
interface Setting {
  /** Prefix of their names. */
  server: string
  /** Name of the file, without its directory. */
  file: string
  /** The server is reached over the network. */
  isRemote: boolean
}

/** Longer ones are somebody's prompt, not a description. */
const LONGEST_DESCRIPTION = 1024
/** What the APIs of models take as the name of a tool. */
const LONGEST_NAME = 64

/** A tool of a server as one of an agent, or why it cannot be one. */
export function writeTool(
  offered: OfferedTool,
  { server, file, isRemote }: Setting,
): WrittenTool | { reason: string } {
  const { name, inputSchema, execution } = offered
  if (execution?.taskSupport === 'required') return { reason: 'needs tasks' }
  if (!/^\w[\w./-]*$/.test(name)) return { reason: 'its name cannot be a word of a command' }
  const description = shownDescription(offered.description)
  const effects = effectsOf(offered, isRemote)
  const isDeclared = Object.keys(effects).length > 0
  const written: WrittenTool = {
    name: `${server}_${name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST_NAME),
    ...(description !== undefined && { description }),
    input_schema: shownSchema(inputSchema),
    exec: `delta mcp call \${TOOL_HOME}/${file} ${name}`,
    stdin: 'json',
    output: 'mcp',
    ...(isDeclared && { effects }),
    trust: 'community',
    'x-mcp': {
      tool: name,
      sha256: fingerprint(offered),
      // YAML writes an object that is there twice as an alias
      ...(isDeclared && { effects: structuredClone(effects) }),
    },
  }
  const parsed = safeDefineTool(written)
  return parsed.ok ? written : { reason: parsed.problems.map(({ message }) => message).join('; ') }
}

/** The description as a model reads it: cut, with control and invisible characters made visible. */
function shownDescription(description: string | undefined): string | undefined {
  return description === undefined || description === '' ? undefined : shownText(description)
}

function shownText(text: string): string {
  const shown = showUnseen(text)
  return shown.length <= LONGEST_DESCRIPTION ? shown : `${shown.slice(0, LONGEST_DESCRIPTION - 1)}…`
}

/** A schema with its texts as a model reads them. Values, such as those of an enum, stay: they are what a call must send. */
function shownSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shownSchema)
  if (!isMapping(schema)) return schema
  const entries = Object.entries(schema).map(([key, value]) => {
    if (VALUES.has(key)) return [key, value]
    const isText = typeof value === 'string' && (key === 'description' || key === 'title')
    return [key, isText ? shownText(value) : shownSchema(value)]
  })
  return Object.fromEntries(entries)
}

/** Keywords of JSON Schema that hold data. */
const VALUES: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/** Only what the server declares; its absence means unknown, not nothing. */
function effectsOf({ annotations = {} }: OfferedTool, isRemote: boolean): Effects {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
  const isReadOnly = readOnlyHint === true
  const destructive = isReadOnly ? false : destructiveHint
  const network = isRemote || openWorldHint
  return {
    ...(isReadOnly && { filesystem: { write: false, delete: false } }),
    ...(destructive !== undefined && { destructive }),
    ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
    ...(network !== undefined && { network }),
  }
}

/** SHA-256 of what the server says of a tool to a model: name, description and schema, as JSON with sorted keys. */
function fingerprint({ name, description, inputSchema }: OfferedTool): string {
  return createHash('sha256').update(canonicalJson({ name, description, inputSchema })).digest('hex')
}

/** One text for all spellings of a value: without spaces, keys in the order of their UTF-16 code units. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (isMapping(inner) ? sorted(inner) : inner)) ?? 'null'
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(mapping: Record<string, unknown>): Record<string, unknown> {
  // numeric keys come first in every object, so both texts agree on them
  return Object.fromEntries(Object.entries(mapping).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Which parts of a tool are not what was reviewed, in words; empty if none changed. */
export function changedParts(reviewed: ReviewedTool, offered: OfferedTool, isRemote: boolean): string[] {
  const declared = effectsOf(offered, isRemote)
  const changed = isSame(reviewed.declaredEffects ?? {}, declared) ? [] : ['effects']
  return [...changedTexts(reviewed, offered), ...changed]
}

/** Whether two values are the same as JSON, in whichever order their keys stand. */
export function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

function changedTexts(reviewed: ReviewedTool, offered: OfferedTool): string[] {
  if (fingerprint(offered) === reviewed.sha256) return []
  const parts = [
    reviewed.description !== shownDescription(offered.description) && 'description',
    !isSame(reviewed.inputSchema, shownSchema(offered.inputSchema)) && 'input_schema',
  ].filter((part) => part !== false)
  return parts.length > 0 ? parts : [`a text, after its first ${LONGEST_DESCRIPTION} characters`]
}
