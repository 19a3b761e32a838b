import { symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startsDelta } from '../src/index.js'
import { workspace } from './workspace.js'

test('an agent of its own is the delta that the run finds first, or the program that runs now, and no other of that name', async () => {
  const directory = await workspace()
  const own = await directory.write('own/delta', '#!/bin/sh\n')
  const other = await directory.write('other/delta', '#!/bin/sh\n')
  const running = join(directory.path, 'delta')
  await symlink(process.argv[1] ?? '', running)

  const pathTo = (program: string) => ({ PATH: `${directory.path}/none:${dirname(program)}` })
  const starts = (command: string[], env = pathTo(own)) =>
    startsDelta(command, { cwd: directory.path, env, trusted: pathTo(own) })
  expect(starts(['delta', 'run'])).toBe(true)
  expect(starts([own, 'continue'])).toBe(true)
  expect(starts([running, 'run'])).toBe(true)
  expect(starts(['delta', 'show'])).toBe(false)
  expect(starts([other, 'run'])).toBe(false)
  expect(starts(['${BIN}/delta', 'run'])).toBe(false) // a file of the workspace
  expect(starts(['delta', 'run'], pathTo(other))).toBe(false)

  const here = { PATH: 'other' } // leads to wherever a tool runs, and a model may have written what is there
  expect(startsDelta(['delta', 'run'], { cwd: directory.path, env: here, trusted: here })).toBe(false)
})
