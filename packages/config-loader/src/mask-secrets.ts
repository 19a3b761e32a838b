const SECRET_NAME = /(^|[_-])(api_?key|(?<!max_)token|secret|password|passwd|authorization|credentials?)$/i

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Replaces what stands under names that say they are secret: texts, and a password of digits, which YAML takes for a number. */
export function maskSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string' || typeof value === 'number') return isSecretName(name) ? '***' : value
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, name))
  if (typeof value !== 'object' || value === null) return value
  const masked: Record<string, unknown> = { ...value }
  for (const key in masked) masked[key] = maskSecrets(masked[key], key)
  return masked
}
