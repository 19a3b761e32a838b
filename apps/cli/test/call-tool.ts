import type { ActionRequest, ActionResult } from '@delta/journal/runs'
import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect } from 'vitest'
import { delta, journalOf } from './delta.js'

interface Called {
  request: ActionRequest
  result: ActionResult
  workspace: TemporaryWorkspace
  [Symbol.asyncDispose](): Promise<void>
}

/** Lets a scripted model call one tool in a run of `delta run`; what the journal says about it. */
export async function callTool(
  definition: object,
  args: Record<string, unknown>,
  files: Record<string, string> = {},
): Promise<Called> {
  await using agent = await temporaryAgent({
    tools: [{ name: 'tool', ...definition }],
    turns: [{ tool_calls: [{ name: 'tool', arguments: args }] }, { content: 'Done.' }],
  })
  const workspace = await temporaryWorkspace(files)
  const outcome = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--no-sync'])
  expect(outcome).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })

  const events = await journalOf(workspace.path)
  return {
    request: events.find((event) => event.type === 'ACTION_REQUEST') as ActionRequest,
    result: events.find((event) => event.type === 'ACTION_RESULT') as ActionResult,
    workspace,
    [Symbol.asyncDispose]: () => workspace.remove(),
  }
}

/** What `delta run` says of a tool that must not load; nothing is written then. */
export async function refusalOf(definition: object): Promise<string> {
  await using agent = await temporaryAgent({ tools: [{ name: 'tool', ...definition }] })
  await using workspace = await temporaryWorkspace({})
  const ran = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
  expect(await workspace.files()).toEqual([])

  const expanded = await delta(['tool', 'expand', agent.path])
  expect(expanded).toMatchObject({ exitCode: 2, stdout: '' })
  return ran.stderr
}
