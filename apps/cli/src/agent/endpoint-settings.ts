import type { Environment, Setting } from '@delta/config-loader'

/** The name of the agent's own address, in the list of settings and in the `origins` of the environment. */
const OWN_ADDRESS = 'llm.base_url'

/**
 * The settings of an agent, together with the key and the address that its model gets. Only the address that takes effect
 * is listed; the key itself is masked.
 */
export function withEndpoint(settings: readonly Setting[], environment: Environment): Setting[] {
  const found = environment.origins.filter(({ name }) => name !== OWN_ADDRESS)
  const address = found.find(({ name }) => isAddress(name))
  const overridden = address && settings.find(({ path }) => path === OWN_ADDRESS)
  const endpoint = found.map(({ name, from }) => ({
    path: `environment.${name}`,
    value: isAddress(name) ? withoutSecrets(environment.baseUrl ?? '') : '***',
    origin: from,
    ...(overridden && overridden.origin !== 'default' && isAddress(name)
      ? { replaces: [overridden.origin] }
      : {}),
  }))
  return [...settings.filter((setting) => setting !== overridden), ...endpoint]
}

function isAddress(name: string): boolean {
  return name.includes('URL')
}

/** An address may carry a password or a token. */
function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return '***'
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}
