import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { olderRuns } from './older-runs.js'

/** Every run of the fixture: its status, how it is continued, what `continue` then answers, and requests that were sent. */
const RUNS = [
  ['completed', 'COMPLETED', ['-m', 'And now?'], 'Still eleven notes.\n', [1, 12]],
  ['failed', 'FAILED', ['-m', 'Go on'], 'Two notes.\n', [2]],
  ['waiting', 'WAITING_FOR_INPUT', ['-m', 'blue'], 'Noted.\n', [1]],
  ['killed', 'INTERRUPTED', [], 'It was interrupted.\n', [2]],
  ['old', 'INTERRUPTED', [], 'Looked.\n', [1]],
] as const

test.each(RUNS)(
  'a run that the engine 0.1 left as %s is listed, verified and shown with the bytes of its requests, and goes on',
  async (id, status, how, answer, requests) => {
    await using root = await olderRuns()
    const where = ['-w', `${root.path}/workspace`]
    expect(await statusOf(id, where)).toBe(status)
    expect((await delta(['journal', 'verify', id, ...where])).exitCode).toBe(0)
    expect((await delta(['show', id, ...where])).stdout).toMatch(/^1\. (I|Note)/m)
    for (const request of requests) {
      const { stdout } = await delta(['show', id, '--request', String(request), ...where])
      expect(stdout).toBe(await root.read(`requests/${id}-${request}.json`))
    }

    const command = ['continue', '--run-id', id, ...how, ...where, '-q']
    expect((await delta(command)).exitCode).toBe(2)
    const continued = await delta([...command, '--trust-run'])
    expect(continued, continued.stderr).toMatchObject({ exitCode: 0, stdout: answer })
    expect(await statusOf(id, where)).toBe('COMPLETED')
    expect((await delta(['journal', 'verify', id, ...where])).exitCode).toBe(0)
    expect((await delta(['show', id, '--answer', ...where])).stdout).toBe(answer)
    if (id === 'killed') expect(await root.read('workspace/started.txt')).toBe('started once\n')
  },
)

/** Of the run itself, or of the one that it was written anew as, which is listed first. */
async function statusOf(id: string, where: string[]): Promise<unknown> {
  const { stdout } = await delta(['list-runs', '--json', ...where])
  const runs: Record<string, unknown>[] = JSON.parse(stdout)
  return runs.find((run) => run.run_id === id)?.status
}
