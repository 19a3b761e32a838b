import { join } from 'node:path'
import { areInstalled, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { eventsOfType, scene } from './run.js'

test.skipIf(!areInstalled('git'))(
  'the end of a run waits 10 seconds for its last snapshot, and says so when it was given up',
  async () => {
    const slow = '#!/bin/sh\n[ "$1" != fast-import ] || sleep 11\nPATH=${PATH#*:} exec git "$@"\n'
    const bin = await temporaryWorkspace({ git: slow }, { onCleanup: onTestFinished })
    vi.stubEnv('PATH', `${bin.path}:${process.env.PATH}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const snapshots = 'every_iteration'
    const files = { small: 'x', [join('d', 'large')]: 'x'.repeat(3_000_000) }
    const { run } = await scene({ agent: { snapshots }, turns: [{ content: 'The end.' }] }, files)
    const result = await run()
    expect(result.status).toBe('COMPLETED')
    expect(await eventsOfType(result, 'SNAPSHOT')).toMatchObject([
      {
        iteration: 0,
        snapshot_id: null,
        reason: 'time',
        message: expect.stringMatching(/^the run ended after 10 s; [12] of 2 files were stored and stay$/),
      },
    ])
  },
)
