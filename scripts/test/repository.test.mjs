import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'
import { capture } from '../lib/step.mjs'

test('the lockfile pins no host: whoever installs decides where packages come from', () => {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  expect(lockfile).toMatch(/^lockfileVersion:/)
  expect(lockfile.match(/^.*(https?:\/\/|git\+|tarball:).*$/gm)).toBeNull()
})

test('no file names the host of a package registry', async () => {
  const hosts = '(registry\\.(npmjs|yarnpkg|npmmirror)\\.|npm\\.pkg\\.github\\.)'
  const { stdout, output } = await capture(['git', 'grep', '--untracked', '-nIE', hosts])
  expect(output).toBe('')
  expect(stdout).toBe('')
})
