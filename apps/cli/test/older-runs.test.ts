import { cp, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

/** Made by the engine 0.1 itself; its README says how. */
const FIXTURE = fileURLToPath(new URL('fixtures/runs-0.1/', import.meta.url))

/** Every run in it: its status, how it is continued, what `continue` then answers, and requests that were sent. */
const RUNS = [
  ['completed', 'COMPLETED', ['-m', 'And now?'], 'Still eleven notes.\n', [1, 12]],
  ['failed', 'FAILED', ['-m', 'Go on'], 'Two notes.\n', [2]],
  ['waiting', 'WAITING_FOR_INPUT', ['-m', 'blue'], 'Noted.\n', [1]],
  ['killed', 'INTERRUPTED', [], 'It was interrupted.\n', [2]],
  ['old', 'INTERRUPTED', [], 'Looked.\n', [1]],
] as const

/** A copy of the fixture, as if its runs had been made there: its paths lead there, and no heartbeat is recent. */
async function olderRuns(): Promise<TemporaryWorkspace> {
  const root = await temporaryWorkspace({})
  await cp(FIXTURE, root.path, { recursive: true })
  await rename(join(root.path, 'workspace/dot-delta'), join(root.path, 'workspace/.delta'))
  for (const entry of await readdir(root.path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('{{ROOT}}', root.path))
    await utimes(path, 0, 0)
  }
  return root
}

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

    const continued = await delta(['continue', '--run-id', id, ...how, ...where, '-q'])
    expect(continued).toMatchObject({ exitCode: 0, stdout: answer })
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
