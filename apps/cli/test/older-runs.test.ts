import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { oldRun } from './older-runs.js'

test('a run with the layout of v1.1 is listed, verified and shown with the bytes of its requests, and goes on', async () => {
  await using root = await oldRun()
  const where = ['-w', `${root.path}/workspace`]
  expect(await statusOf('old', where)).toBe('INTERRUPTED')
  expect((await delta(['journal', 'verify', 'old', ...where])).exitCode).toBe(0)
  expect((await delta(['show', 'old', ...where])).stdout).toMatch(/^1\. I/m)
  const request = await delta(['show', 'old', '--request', '1', ...where])
  expect(request.stdout).toBe(await root.read('requests/old-1.json'))

  const command = ['continue', '--run-id', 'old', ...where, '-q']
  expect((await delta(command)).exitCode).toBe(2)
  const continued = await delta([...command, '--trust-run'])
  expect(continued, continued.stderr).toMatchObject({ exitCode: 0, stdout: 'Looked.\n' })
  expect(await statusOf('old', where)).toBe('COMPLETED')
  expect((await delta(['show', 'old', '--answer', ...where])).stdout).toBe('Looked.\n')
})

test('a run with the layout of v1.1 is forked with its task as the first message, and stays as it was', async () => {
  await using root = await oldRun()
  const before = await root.files()
  const into = `${root.path}/fork`
  const words = ['fork', `${root.path}/workspace`, '--at', '1', '--into', into, '-q']
  words.push('--agent', `${root.path}/agents/old`)
  expect((await delta(words)).stderr).toContain(
    ' has no files of iteration 1: it was made before snapshots existed.\nTo fork the conversation alone: ',
  )
  const forked = await delta([...words, '--without-files'])
  expect(forked, forked.stderr).toMatchObject({ exitCode: 0, stdout: 'Looked.\n' })
  const { stdout } = await delta(['show', '-w', into, '--request', '2'])
  const said = JSON.parse(stdout).messages.map(({ role, content }: Record<string, unknown>) => [
    role,
    content,
  ])
  expect(said.slice(-3)).toEqual([
    ['user', 'Take notes: old'],
    ['assistant', 'I look.'],
    ['tool', 'before\n'],
  ])
  expect((await delta(['journal', 'verify', '-w', into])).stdout).toContain('can be read and continued.\n')
  expect((await root.files()).filter((name) => !name.startsWith('fork/'))).toEqual(before)
})

/** The status of the run, or of the one that it was converted into, which is listed first. */
async function statusOf(id: string, where: string[]): Promise<unknown> {
  const { stdout } = await delta(['list-runs', '--json', ...where])
  const runs: Record<string, unknown>[] = JSON.parse(stdout)
  return runs.find((run) => run.run_id === id)?.status
}
