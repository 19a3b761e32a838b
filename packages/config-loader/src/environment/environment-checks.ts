import { dirname } from 'node:path'
import { realPath } from '../files/real-path.js'
import type { Finding, Findings } from '../findings.js'
import { KEY_NAMES, URL_NAMES } from './env-file.js'
import { ALL_URL_NAMES, type Found, firstOf, LLM_BASE_URL, SET, type Source } from './environment-sources.js'
import { isLoopback } from './loopback.js'

/** Said before everything else about an address: what is none cannot be judged. Its text is not shown, it may be a key. */
export function checkUrl(url: Found, findings: Findings): void {
  if (url.name === LLM_BASE_URL) return // checked with the rest of agent.yaml
  const { protocol, username, password } = URL.canParse(url.value) ? new URL(url.value) : NO_URL
  if (!/^https?:$/.test(protocol)) {
    const message = `${url.name} is not an http or https URL.`
    findings.error(placeOf(url), message, `For example ${url.name}=http://localhost:11434/v1`)
  } else if (username !== '' || password !== '') {
    const message = `${url.name} holds credentials.`
    findings.error(placeOf(url), message, `Take them out of the URL; a key is given as ${KEY_NAMES[0]}=…`)
  }
}

const NO_URL = { protocol: '', username: '', password: '' }

function placeOf({ from, place }: Found): Finding {
  return place ?? { file: from }
}

/** A base URL in the workspace's `.env`. */
export interface WorkspaceEndpoint {
  /** Path of the `.env`. */
  file: string
  /** Absent where no line begins with the variable, as after a carriage return. */
  line?: number
  /** The variable. */
  name: string
  /** The address without its query, which may hold a token. */
  shownUrl: string
  /** SHA-256 of the file's content, in hexadecimal. */
  digest: string
}

/** The address that counts, if it is in the workspace's `.env` and a run above this one does not use it anyway. */
export function workspaceEndpoint(
  url: Found,
  sources: readonly Source[],
  isBelowRun: boolean,
): WorkspaceEndpoint | undefined {
  if (url.of !== 'workspace') return undefined
  if (isBelowRun && firstOf(sources.slice(-1), URL_NAMES)?.value === url.value) return undefined
  const { name, from: file, place, digest } = url
  const line = place && { line: place.line }
  return { file, ...line, name, shownUrl: withoutQuery(url.value), digest }
}

/** Tools can write to the workspace, and so could whoever it came from. */
export function refuseEndpoint({ name, shownUrl }: WorkspaceEndpoint, url: Found, findings: Findings): void {
  const message = `The endpoint ${shownUrl} (${name}) is not used, because whoever can write to the workspace can set it.`
  const hint = `Move the line to the agent's .env, or trust this file.`
  findings.error({ ...placeOf(url), allowedBy: { option: 'trustWorkspaceEnv' } }, message, hint)
}

/** One line about an endpoint and a key that neither the agent nor the environment names. */
export function tellOrigins(key: Found | undefined, url: Found | undefined, findings: Findings): void {
  const [endpoint, secret] = [url, key].map((found) => (found && isElsewhere(found) ? found : undefined))
  const what = `The model's endpoint ${endpoint && withoutQuery(endpoint.value)}`
  if (endpoint && secret)
    findings.warn(
      placeOf(endpoint),
      endpoint.from === secret.from
        ? `${what} and the key are from this file.`
        : `${what} is from this file, and the key is from ${secret.from}.`,
    )
  else if (endpoint) findings.warn(placeOf(endpoint), `${what} is from this file.`)
  else if (secret) findings.warn(placeOf(secret), "The model's key is from this file.")
}

function isElsewhere({ of }: Found): boolean {
  return of === 'workspace' || of === 'project'
}

function withoutQuery(address: string): string {
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}

/**
 * A key goes only where the one who wrote the key wanted it to go. An address that the tools of a parent run may have
 * written counts only if it is the parent's own, or on this machine and no key is there to be sent.
 */
export function checkKeyStaysHome(source: Source, sources: readonly Source[], findings: Findings): void {
  const url = firstOf([source], ALL_URL_NAMES)
  if (url === undefined || hasOwnKey(source, url, sources)) return
  const inherited = firstOf(sources.slice(-1), URL_NAMES)?.value === url.value
  const keyless = isLoopback(url.value) && firstOf(sources, KEY_NAMES) === undefined
  if (inherited || keyless) return
  const message = `${url.name} would send a key from elsewhere to an address that a tool may have written here.`
  const hint = 'Put the key for that address into the .env beside it.'
  findings.error(placeOf(url), message, url.from === SET ? undefined : hint)
}

/** Whether the key that would be sent is of the same file; `.env` may be a link to one that knows nothing of `llm.base_url`. */
function hasOwnKey({ from }: Source, url: Found, sources: readonly Source[]): boolean {
  if (firstOf(sources, KEY_NAMES)?.from !== from) return false
  return url.name !== LLM_BASE_URL || dirname(realPath(from) ?? from) === realPath(dirname(from))
}
