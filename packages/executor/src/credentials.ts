import { KEY_NAMES, keyNameOf, SHARED_KEY, SHARED_URL, urlNameOf, VENDORS } from '@delta/model/vendors'
import * as z from 'zod/mini'

/** A key and the address that it was chosen for; never taken apart again. Without either, nothing was found for the vendor. */
export interface Pair {
  /** The `id` of a vendor, or the variable that `llm.api_key_env` names. */
  vendor: string
  key?: string | undefined
  address?: string | undefined
  /** Which variable of which file (or `environment`) each of the two came from. */
  origins?: readonly Origin[] | undefined
}

/** Where a value came from; never the value. */
export interface Origin {
  name: string
  from: string
}

/** Every key that an engine has: what its commands may get of them, `commandEnvironment` decides. */
export interface Credentials {
  /** At most one of each vendor; the first is that of the agent's model. */
  pairs: readonly Pair[]
  /** What the person exported: keys and addresses by their variables. */
  env: Readonly<Record<string, string>>
}

/** The variable in which a sub-agent finds the credentials of the run above it. */
export const CREDENTIALS = 'DELTA_CREDENTIALS'

const text = z.optional(z.string())
const credentialsSchema = z.object({
  pairs: z.array(
    z.object({
      vendor: z.string(),
      key: text,
      address: text,
      origins: z.optional(z.array(z.object({ name: z.string(), from: z.string() }))),
    }),
  ),
  env: z.record(z.string(), z.string()),
})

/** What the run above gives this engine; nothing without one. Undefined if the variable does not hold credentials. */
export function credentialsAbove({ [CREDENTIALS]: given }: NodeJS.ProcessEnv): Credentials | undefined {
  if (!given) return { pairs: [], env: {} }
  try {
    return credentialsSchema.parse(JSON.parse(given))
  } catch {
    return undefined
  }
}

const ADDRESS_NAMES: readonly string[] = [SHARED_URL, ...VENDORS.flatMap(({ urlNames }) => urlNames)]

/**
 * The keys and addresses in an environment, by their variables.
 *
 * @param more - Further variables of keys: what `llm.api_key_env` names.
 */
export function exportedIn(
  env: NodeJS.ProcessEnv,
  more: readonly (string | undefined)[] = [],
): Record<string, string> {
  const found = [...KEY_NAMES, ...more, ...ADDRESS_NAMES].flatMap((name) => {
    const value = name && env[name]
    return name && value ? [[name, value] as const] : []
  })
  return Object.fromEntries(found)
}

/** Every variable under which a key may stand that no command gets without asking. */
export function keyNamesOf({ pairs, env }: Credentials): string[] {
  return [
    ...KEY_NAMES,
    ...pairs.map(({ vendor }) => keyNameOf(vendor)),
    ...Object.keys(env).filter((name) => !ADDRESS_NAMES.includes(name)),
  ]
}

/** Credentials with the keys that an environment holds. Default: those of the run above, if this is a command of one. */
export function withExported(
  env: NodeJS.ProcessEnv,
  credentials: Credentials = credentialsAbove(env) ?? { pairs: [], env: {} },
): Credentials {
  return { pairs: credentials.pairs, env: { ...credentials.env, ...exportedIn(env) } }
}

/** Every key, also those that an environment holds, to redact. An address is not secret. */
export function secretValues(
  credentials: Credentials | undefined,
  environment: NodeJS.ProcessEnv = {},
): string[] {
  const { pairs, env } = withExported(environment, credentials)
  const exported = Object.entries(env).filter(([name]) => !ADDRESS_NAMES.includes(name))
  return [...pairs.flatMap(({ key }) => key ?? []), ...exported.map(([, value]) => value)]
}

/** The pair that a variable stands for. The key of the agent's model has two names: its own, and the one for every vendor. */
function pairOf(name: string, { pairs: [own, ...others] }: Credentials): Pair | undefined {
  if (own?.key !== undefined && (name === SHARED_KEY || name === keyNameOf(own.vendor))) return own
  return others.find(({ vendor, key }) => key !== undefined && keyNameOf(vendor) === name)
}

/**
 * The keys under the listed names, each with its address, without which a client would send it to the vendor's. Undefined removes
 * a variable: the address in it is another key's.
 */
export function listedVariables(names: readonly string[], credentials: Credentials): NodeJS.ProcessEnv {
  const known = keyNamesOf(credentials)
  const variables: NodeJS.ProcessEnv = {}
  for (const name of names.filter((each) => known.includes(each))) {
    const pair = pairOf(name, credentials)
    const urlName = name === SHARED_KEY ? SHARED_URL : urlNameOf(name)
    variables[name] = pair?.key ?? credentials.env[name]
    if (urlName === undefined || variables[name] === undefined) continue
    const isUsual = VENDORS.some(({ url }) => url === pair?.address)
    const address = isUsual ? undefined : pair?.address
    // of the person's addresses the one for whichever vendor comes first, as for the model
    const exported = credentials.env[SHARED_URL] ?? credentials.env[urlName]
    variables[urlName] = pair === undefined ? exported : address
  }
  return variables
}

/** What a command that lists these keys may hand on to an agent that it starts; undefined if it lists none. */
export function cutCredentials(names: readonly string[], credentials: Credentials): Credentials | undefined {
  const variables = listedVariables(names, credentials)
  const listed = new Set(names.flatMap((name) => variables[name] ?? []))
  if (listed.size === 0) return undefined
  const { pairs, env } = credentials
  const entries = Object.entries(env)
  return {
    pairs: pairs.map((pair) => (pair.key && !listed.has(pair.key) ? { vendor: pair.vendor } : pair)),
    env: Object.fromEntries(
      entries.filter(([name, value]) => ADDRESS_NAMES.includes(name) || listed.has(value)),
    ),
  }
}
