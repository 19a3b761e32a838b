import { readFileSync } from 'node:fs'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, temporaryDirectory } from './helpers.js'
import { createRun } from './of-runs.js'

const PRELOAD = new URL('no-hard-links.mjs', import.meta.url).href
const JOURNAL = JSON.stringify(new URL('../dist/runs.js', import.meta.url).href)

/** What a program that does this says on a file system without hard links. */
async function saidWithoutLinks(code: string, action: string): Promise<string> {
  const program = `import { createRun, openRun } from ${JOURNAL}
    await ${action}.then(() => console.log('done'), (error) => console.log(error.code, error.message))`
  const node = [process.execPath, '--import', PRELOAD, '--input-type=module', '-e', program]
  const { stdout, stderr } = await runProcess(node, { env: { ...process.env, NO_HARD_LINKS: code } })
  return stdout + stderr
}

test.each(['EPERM', 'EOPNOTSUPP', 'ENOSYS'])(
  'a file system without hard links is named as the cause: %s',
  async (code) => {
    const workspace = temporaryDirectory()
    const events = JSON.stringify([{ type: 'USER_MESSAGE', content: 'hi' }])
    const started = `createRun(${JSON.stringify(workspace)}, { events: () => ${events} })`
    const why =
      'Could not be written: the file system has no hard links, by which one process alone becomes the owner (ENOTSUP).'
    expect(await saidWithoutLinks(code, started)).toMatch(/^ERR_JOURNAL_WRITE /)
    expect(await saidWithoutLinks(code, started)).toContain(
      `/lease/1: ${why}\nThe run was not started. Use a file system that has them (`,
    )

    const run = await createRun(temporaryDirectory(), { events: firstEvents })
    afterTest(run.close)
    run.close()
    const before = readFileSync(run.paths.journal, 'utf8')
    expect(await saidWithoutLinks(code, `openRun(${JSON.stringify(run.directory)})`)).toContain(
      `/lease/2: ${why}\nWhat was recorded before is whole. Use a file system that has them (`,
    )
    expect(readFileSync(run.paths.journal, 'utf8')).toBe(before)
  },
)
