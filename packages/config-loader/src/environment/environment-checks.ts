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

export function checkUnchanged(
  { from }: Source,
  endpoint: string,
  known: string | undefined,
  findings: Findings,
): void {
  if (known === undefined || endpoint === '' || endpoint === known) return
  const message =
    "The settings of the model's API in this file are not those this workspace was started with."
  findings.error({ file: from }, message, TRUST)
}

/**
 * A key goes only where the one who wrote the key wanted it to go. An address on this machine does for the workspace; one
 * that the tools of a parent run may have written does only where it is the parent's own, or no key is there to be sent.
 */
export function checkKeyStaysHome(source: Source, sources: readonly Source[], findings: Findings): void {
  const url = firstOf([source], ALL_URL_NAMES)
  if (url === undefined || hasOwnKey(source, url, sources)) return
  const inherited = firstOf(sources.slice(-1), URL_NAMES)?.value === url.value
  const keyless = isLoopback(url.value) && firstOf(sources, KEY_NAMES) === undefined
  if (source.writers === 'own' ? isLoopback(url.value) : inherited || keyless) return
  const message = `${url.name} would send a key from elsewhere to an address that a tool may have written here.`
  const trust = source.writers === 'own' ? ` ${TRUST}` : '' // within a run nobody is there to say so
  const hint = `Put the key for that address into the .env beside it.${trust}`
  findings.error(placeOf(url), message, url.from === SET ? undefined : hint)
}

/** Whether the key that would be sent is of the same file; `.env` may be a link to one that knows nothing of `llm.base_url`. */
function hasOwnKey({ from }: Source, url: Found, sources: readonly Source[]): boolean {
  if (firstOf(sources, KEY_NAMES)?.from !== from) return false
  return url.name !== LLM_BASE_URL || dirname(realPath(from) ?? from) === realPath(dirname(from))
}

const TRUST = 'If the settings are yours, say so: the option trustWorkspaceEnv'
