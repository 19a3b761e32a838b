import { readFileSync } from 'node:fs'
import { test } from 'vitest'
import { parse } from 'yaml'
import { callTool, workspaceOf } from './helper.js'

interface Case {
  it: string
  files?: Record<string, string>
  call: Record<string, object>
  prints?: string
  error?: string
  after?: Record<string, string>
}

const cases = parse(readFileSync(new URL('cases/files.yaml', import.meta.url), 'utf8')) as Case[]

test.concurrent.for(cases)('$it', async (each, { onTestFinished, expect }) => {
  const { files = {}, call, prints = '', error = '', after = {} } = each
  const workspace = await workspaceOf(files, onTestFinished)
  const [[name = '', args] = []] = Object.entries(call)
  const result = await callTool(name, args, { cwd: workspace.path })
  expect({ stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode }).toEqual({
    stdout: prints,
    stderr: error,
    exitCode: error === '' ? 0 : 1,
  })
  const expected = { ...files, ...after }
  expect(await workspace.files()).toEqual(Object.keys(expected).toSorted())
  for (const [path, text] of Object.entries(expected)) expect(await workspace.read(path)).toBe(text)
})

test('a comma in a description does not cut it: no key of the files is without a value', ({ expect }) => {
  for (const file of ['files.yaml', 'shell.yaml'])
    expect(JSON.stringify(parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')))).not.toContain(
      ':null',
    )
})
