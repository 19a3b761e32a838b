import { spawnSync } from 'node:child_process'

const WITHOUT_PROC = ['sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh']
const CONTAINER = ['unshare', '--map-root-user', '--pid', '--fork', '--kill-child']
/** No other process has such a high number there. */
const FAR_AWAY = ['sh', '-c', 'echo 32000 > /proc/sys/kernel/ns_last_pid; "$@"', 'sh']

/** What a program is started with, to be where the system does not show it its own processes; see `canStart`. */
export const unseenProcesses: Readonly<Record<string, readonly string[]>> = {
  'no /proc is mounted': ['unshare', '--map-root-user', '--mount', ...WITHOUT_PROC],
  '/proc is that of another container': [...CONTAINER, ...FAR_AWAY],
}

/** What a program is started with, to be in a container that has our host name; see `canStart`. */
export const containers: Readonly<Record<string, readonly string[]>> = {
  'another container': [...CONTAINER, '--mount-proc'],
  'a container with our /proc': CONTAINER,
  'a container without a /proc': [...CONTAINER, '--mount', ...WITHOUT_PROC],
}

/** False where the system knows no namespaces (macOS), or refuses them to us: the test is then to be skipped. */
export function canStart(place: readonly string[]): boolean {
  const [program = '', ...words] = place
  return spawnSync(program, [...words, 'true']).status === 0
}
