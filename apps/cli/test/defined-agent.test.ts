import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnvironment, delta, eventTypes, journalOf } from './delta.js'

const PROGRAM = fileURLToPath(new URL('./defined-program.mjs', import.meta.url))
const TURNS = `- tool_calls: [{ name: note, arguments: { word: one } }]
- tool_calls: [{ name: note, arguments: { word: two } }]
- content: Noted.
`

/** A program whose agent is defined in it runs until it kills itself with -9 after some events. */
async function killed(events: number, home?: string) {
  const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const argv = [process.execPath, PROGRAM, workspace.path, String(events), ...(home ? [home] : [])]
  const program = await runProcess(argv, { env: cleanEnvironment() })
  expect(program.signal).toBe('SIGKILL')
  const runId = (await readFile(join(workspace.path, '.delta/LATEST'), 'utf8')).trim()
  const kept = join(workspace.path, '.delta', runId, 'configuration/1')
  const at = ['continue', '-w', workspace.path, '--trust-run']
  return { workspace, kept, at }
}

async function noteTaker() {
  const files = { note: '#!/bin/sh\necho "$1" >> notes.txt\n', 'turns.yaml': TURNS }
  const home = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  await chmod(join(home.path, 'note'), 0o755)
  return home.path
}

test.each([2, 4, 5, 6])(
  'A program is killed after event %i; delta continue goes on from what the run kept of its agent.',
  async (events) => {
    const { workspace, kept, at } = await killed(events, await noteTaker())
    const continued = await delta([...at, '--agent', kept])
    expect(continued.stdout).toContain('Noted.')
    expect(continued.exitCode).toBe(0)
    expect(continued.stderr).not.toContain('Changed since')
    expect(await eventTypes(workspace.path)).toContain('ENGINE_END')
    const notes = await readFile(join(workspace.path, 'notes.txt'), 'utf8')
    expect(notes).toBe('one\ntwo\n')
    const [start] = await journalOf(workspace.path)
    expect(start).toMatchObject({ agent_name: 'noter', agent_home: null })
  },
)

test('Without --agent the message names the kept agent, and a model that was an object must be named; show and list know the run.', async () => {
  const { workspace, kept, at } = await killed(5)
  const lost = await delta(at)
  expect(lost.exitCode).toBe(2)
  expect(lost.stderr).toContain(`was defined in a program`)
  expect(lost.stderr).toContain(kept)

  const unnamed = await delta([...at, '--agent', kept])
  expect(unnamed.exitCode).toBe(2)
  expect(unnamed.stderr).toContain('llm.model: missing')
  expect(unnamed.stderr).toContain("the program's own model; name another one: --set llm.model=NAME")

  const shown = await delta(['show', '-w', workspace.path])
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('noter') })
  expect((await delta(['list-runs', '-w', workspace.path])).stdout).toContain('INTERRUPTED')
})
