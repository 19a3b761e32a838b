import { runCommand } from '../run-command.js'

const PROBE_TIMEOUT_MS = 10_000

const probes = new Map<string, Promise<string | undefined>>()

/**
 * Finds out, once per process and sandbox, whether the sandbox itself can start.
 *
 * Without this a missing `bwrap` or a kernel without user namespaces would look like a tool that
 * failed, and a model would try to work around it.
 *
 * @param prefix - The sandbox's own words, as `sandboxPrefix` makes them.
 * @returns undefined when it starts; otherwise why not, and how to mend it.
 */
export function probeSandbox(
  prefix: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  const key = prefix.join('\0')
  const known = probes.get(key)
  if (known) return known
  const probe = tryOut(prefix, options)
  probes.set(key, probe)
  return probe
}

async function tryOut(
  prefix: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  const outcome = await runCommand([...prefix, 'true'], { ...options, timeoutMs: PROBE_TIMEOUT_MS })
  if (outcome.status === 'EXITED' && outcome.exitCode === 0) return undefined
  if (outcome.startError?.code === 'NOT_FOUND') {
    return 'bubblewrap is not installed. Install it (Debian, Ubuntu: apt install bubblewrap).'
  }
  const said =
    outcome.startError?.message ?? (outcome.stderr.text.trim() || `bwrap ended with ${outcome.status}`)
  const userNamespaces = /namespace|permission|not permitted|setting up uid map/i.test(said)
  return userNamespaces
    ? `${said}\nAllow user namespaces for bubblewrap (in a container: run it with the rights to create them).`
    : said
}
