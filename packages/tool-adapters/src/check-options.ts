import { requireThat } from './usage.js'

const POLICY_MEMBERS: readonly string[] = ['rules', 'onConfirmation', 'redact']

/** @throws {AdapterError} `ERR_ADAPTER_OPTIONS`, naming the first option that cannot be used. */
export function checkAdapterOptions(name: string, options: unknown): void {
  requireThat(isObject(options), `${name}: what stands for its options`, 'an object with options, or nothing')
  const { workDirectory, agentHome, environment, credentials, secrets, policy, confirm } = options
  const of = `${name}: the option`
  requireThat(isTextOrNothing(workDirectory), `${of} workDirectory`, 'a path as text, or nothing')
  requireThat(isTextOrNothing(agentHome), `${of} agentHome`, 'a path as text, or nothing')
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

export function checkDispatch(options: Record<string, unknown>): void {
  const { signal, concurrency, onResult } = options
  const isSignal = signal === undefined || typeof Object(signal).addEventListener === 'function'
  requireThat(isSignal, 'dispatch: the option signal', 'an AbortSignal, or nothing')
  const isCount = concurrency === undefined || (typeof concurrency === 'number' && concurrency >= 1)
  requireThat(isCount, 'dispatch: the option concurrency', 'a number from 1, or nothing')
  checkFunction('dispatch: the option onResult', onResult)
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
