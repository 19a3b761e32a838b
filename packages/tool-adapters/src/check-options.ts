import { requireThat } from './usage.js'

const POLICY_MEMBERS: readonly string[] = ['rules', 'onConfirmation', 'redact', 'tools']

/** @throws {AdapterError} `ERR_ADAPTER_OPTIONS`, naming the first option that cannot be used. */
export function checkAdapterOptions(name: string, options: unknown): void {
  checkIsOptions(name, options)
  const { workDirectory, agentHome, environment, credentials, secrets, policy, confirm } = options
  const of = `${name}: the option`
  requireThat(isTextOrNothing(workDirectory), `${of} workDirectory`, 'a path, or nothing')
  requireThat(isTextOrNothing(agentHome), `${of} agentHome`, 'a path, or nothing')
  const isEnvironment = environment === undefined || isObject(environment)
  requireThat(isEnvironment, `${of} environment`, 'process.env, a part of it, or nothing')
  requireThat(isListOrNothing(credentials), `${of} credentials`, 'a list of names, or nothing')
  requireThat(isListOrNothing(secrets), `${of} secrets`, 'a list of texts, or nothing')
  // a policy as a person writes it has none of the members that are looked at, and would forbid nothing
  const isRead = isObject(policy) && Object.keys(policy).every((key) => POLICY_MEMBERS.includes(key))
  const wanted = 'the policy of parsePolicy({ allow_network: false }) of @delta/executor, or nothing'
  requireThat(policy === undefined || isRead, `${of} policy`, wanted)
  checkFunction(`${of} confirm`, confirm)
}

export function checkDispatchOptions(options: unknown): void {
  checkIsOptions('dispatch', options)
  const { signal, concurrency, onResult } = options
  const isSignal = signal === undefined || typeof Object(signal).addEventListener === 'function'
  requireThat(isSignal, 'dispatch: the option signal', 'an AbortSignal, or nothing')
  const isCount = concurrency === undefined || (typeof concurrency === 'number' && concurrency >= 1)
  requireThat(isCount, 'dispatch: the option concurrency', 'a number from 1, or nothing')
  checkFunction('dispatch: the option onResult', onResult)
}

export function checkServerOptions(name: string, options: unknown): void {
  checkIsOptions(name, options)
  const of = `${name}: the option`
  for (const key of ['name', 'version']) {
    const value = options[key]
    requireThat(value === undefined || typeof value === 'string', `${of} ${key}`, 'a string, or nothing')
  }
  const { progressMs = 1 } = options
  const isTime = typeof progressMs === 'number' && progressMs > 0 && progressMs <= LONGEST_MS
  requireThat(isTime, `${of} progressMs`, 'milliseconds, more than 0 and at most 24 days, or nothing')
}

/** Node turns a longer timer into one of a millisecond. */
const LONGEST_MS = 2 ** 31 - 1

function checkIsOptions(name: string, options: unknown): asserts options is Record<string, unknown> {
  requireThat(isObject(options), `${name}: the argument options`, 'an object with options, or nothing')
}

function checkFunction(what: string, value: unknown): void {
  requireThat(value === undefined || typeof value === 'function', what, 'a function, or nothing')
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value !== '' && !value.includes('\0'))
}

function isListOrNothing(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
