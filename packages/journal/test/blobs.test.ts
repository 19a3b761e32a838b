import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { afterTest, firstEvents, temporaryDirectory } from './helpers.js'
import { createRun, openRun, type Run, readBlob, readRequest } from './of-runs.js'

const png = Buffer.from('89504e470d0a1a0a00', 'hex')
const sha256 = hash('sha256', png)

async function newRun(): Promise<Run> {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(() => run.close())
  return run
}

test('an image is kept once, under its SHA-256, readable by its owner only', async () => {
  const run = await newRun()
  expect(existsSync(run.paths.blobs)).toBe(false)
  expect(run.blobs.write(png)).toBe(sha256)
  const { ino } = statSync(join(run.paths.blobs, sha256))
  expect(run.blobs.write(png)).toBe(sha256)
  expect(readdirSync(run.paths.blobs)).toEqual([sha256])
  const { mode, ino: now } = statSync(join(run.paths.blobs, sha256))
  expect([now, mode & 0o777]).toEqual([ino, 0o600])
  expect(Buffer.from(run.blobs.read(sha256))).toEqual(png)
  expect(run.paths.blobs).toBe(join(run.directory, 'io', 'blobs'))
})

test('the image of a run that is closed can be read', async () => {
  const run = await newRun()
  run.blobs.write(png)
  run.close()
  expect(Buffer.from(readBlob(run.directory, sha256))).toEqual(png)
  expect(() => run.blobs.write(png)).toThrow(expect.objectContaining({ code: 'ERR_JOURNAL_CLOSED' }))
})

test('an image that is missing or was changed is an error that names the file and says what to do', async () => {
  const run = await newRun()
  run.blobs.write(png)
  const path = join(run.paths.blobs, sha256)
  writeFileSync(path, 'another')
  expect(() => run.blobs.read(sha256)).toThrow(
    expect.objectContaining({
      code: 'ERR_BLOB_CORRUPT',
      path,
      message: `${path}: The image or file has changed: its bytes do not have the SHA-256 that is its name.\nPut the file back from a copy of the run.`,
    }),
  )
  rmSync(path)
  expect(() => run.blobs.read(sha256)).toThrow(
    expect.objectContaining({
      code: 'ERR_BLOB_NOT_FOUND',
      message: `${run.paths.blobs}: There is no image or file "${sha256}".\nPut the file back from a copy of the run. Without it, requests that hold it cannot be made.`,
    }),
  )
})

test.each(['../../journal.jsonl', '', 'A'.repeat(64), `${sha256}/..`])(
  'only a SHA-256 names an image: "%s" reads no other file',
  async (name) => {
    const run = await newRun()
    expect(() => readBlob(run.directory, name)).toThrow(
      expect.objectContaining({
        code: 'ERR_BLOB_NOT_FOUND',
        message: expect.stringContaining(JSON.stringify(name)),
      }),
    )
  },
)

test('a request that holds an empty file is given back as it was sent', async () => {
  const run = await newRun()
  const blobs = [run.blobs.write(new Uint8Array()), run.blobs.write(png)]
  const request = {
    messages: [{ url: 'data:text/plain;base64,' }, { url: `data:;base64,${png.toString('base64')}` }],
  }
  const { body } = run.requests.record({ iteration: 1, request, blobs })
  expect(await readRequest(run.directory, 1)).toBe(body.toString())
  expect(readFileSync(run.paths.parts, 'utf8')).not.toContain(png.toString('base64'))
})

test('an image that was damaged on the disk is written again when it comes again', async () => {
  const run = await newRun()
  run.blobs.write(png)
  writeFileSync(join(run.paths.blobs, sha256), png.subarray(0, 3))
  run.blobs.write(png)
  expect(Buffer.from(run.blobs.read(sha256))).toEqual(png)
})

test('half an image that a killed engine left is removed when the run is opened again; a whole one stays', async () => {
  const run = await newRun()
  run.blobs.write(png)
  run.close()
  writeFileSync(join(run.paths.blobs, `${sha256}.0123abcd.tmp`), 'half')
  const again = await openRun(run.directory)
  afterTest(() => again.close())
  expect(readdirSync(again.paths.blobs)).toEqual([sha256])
})

test('something in the way of the images is named', async () => {
  const run = await newRun()
  mkdirSync(join(run.paths.blobs, sha256), { recursive: true })
  expect(() => run.blobs.write(png)).toThrow(
    expect.objectContaining({ code: 'ERR_JOURNAL_WRITE', path: join(run.paths.blobs, sha256) }),
  )
})
