import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { smallDisk } from '@delta/testkit'
import { expect, test } from 'vitest'
import { execInSession, startSession } from '../src/index.js'
import { temporaryDirectory } from './helpers.js'

const FILL = 'head -c 10000000 /dev/zero > "$FULL/fill" 2>/dev/null'

/** A session on a disk of its own, with a place elsewhere to which commands can still write. */
async function startOn(disk: string, more: NodeJS.ProcessEnv = {}) {
  const elsewhere = temporaryDirectory()
  const env = { PATH: process.env.PATH, HOME: elsewhere, FULL: disk, ...more }
  const sessionsDirectory = join(disk, '.sessions')
  const options = { sessionsDirectory, env }
  const { sessionId: id } = await startSession('bash', { ...options, cwd: elsewhere })
  const exec = (command: string) => execInSession(id, command, options)
  return { elsewhere, directory: join(sessionsDirectory, id), exec }
}

const rooms = [0, 4, 8, 12, 16, 20, 24, 28, 32].map((kilobytes) => kilobytes * 1024)

test.each(rooms)(
  'a command that leaves %i bytes on the disk is answered, and told what is not kept',
  async (room) => {
    await using disk = await smallDisk()
    if (!disk.mounted) return
    const { elsewhere, exec } = await startOn(disk.path)
    const filled = await exec(`name=new; echo ran; ${FILL}; truncate -s -${room} "$FULL/fill"; exit 7`)
    expect(filled).toMatchObject({ stdout: 'ran\n', exitCode: 7, workDir: elsewhere })
    const isAsBefore = /^The session is as it was before this command: /m.test(
      filled.notices?.join('\n') ?? '',
    )
    rmSync(join(disk.path, 'fill'))
    expect(await exec('echo "name: $name"')).toMatchObject({
      stdout: isAsBefore ? 'name: \n' : 'name: new\n',
    })
  },
)

test('a session that cannot be started for want of room says what could not be written', async () => {
  await using disk = await smallDisk('size=4k')
  if (!disk.mounted) return
  await expect(startOn(disk.path)).rejects.toThrow(/^ENOSPC: .* '.*\.sessions.*'$/)
})

test('a command that there is no room to hand over is not run, and the error names the file', async () => {
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const { elsewhere, exec } = await startOn(disk.path)
  await exec(FILL)
  await expect(exec(`echo > ran; : ${'x'.repeat(100_000)}`)).rejects.toThrow(
    /ENOSPC: .* '.*\.(program|command)'$/,
  )
  expect(readdirSync(elsewhere)).toEqual([])
})

test('a session goes on once the disk has room again, and nothing half written stays in it', async () => {
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const { directory, exec } = await startOn(disk.path)
  await exec('name=old')
  const before = readdirSync(directory)
  await exec(`name=new; ${FILL}`)
  await exec('true').catch(() => undefined)
  rmSync(join(disk.path, 'fill'))
  expect(await exec('echo "$name"')).toMatchObject({ stdout: 'old\n', exitCode: 0 })
  expect(readdirSync(directory)).toEqual(before)
})

test('an output whose secrets cannot be taken out for want of room is removed', async () => {
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const { directory, exec } = await startOn(disk.path, { OPENAI_API_KEY: 'sk-secret-of-mine' })
  const { notices } = await exec(`echo $OPENAI_API_KEY; head -c 100000 /dev/zero | tr '\\0' a; ${FILL}`)
  expect(notices?.join('\n')).toMatch(/^What this command printed could not be tidied up: ENOSPC/m)
  expect(readdirSync(join(directory, 'output'))).toEqual([])
})

test('a command that takes its session away is answered all the same', async () => {
  const { directory, exec } = await startOn(temporaryDirectory())
  const result = await exec(`echo done; rm -r ${directory}`)
  expect(result).toMatchObject({ stdout: 'done\n', exitCode: 0 })
  expect(result.notices?.[0]).toMatch(/^The session is as it was before this command: .*ENOENT/)
})
