import { isObject, requireThat } from '../usage.js'

const MEMBERS: readonly string[] = ['rules', 'onConfirmation', 'redact', 'tools']

/**
 * A policy as a person writes it (`{ allow_network: false }`) has none of the members that are looked at here, and would
 * forbid nothing: a guard must not vanish by such a mistake.
 */
export function checkPolicy(of: string, policy: unknown): void {
  const isRead = isObject(policy) && Object.keys(policy).every((key) => MEMBERS.includes(key))
  requireThat(
    policy === undefined || isRead,
    `${of}: the policy`,
    'the policy of parsePolicy({ allow_network: false }), or nothing',
  )
}
