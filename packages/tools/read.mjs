#!/usr/bin/env node
import { createReadStream, readSync } from 'node:fs'
import { isBinary, numberOf, Refusal, runTool, shown, textOf, withFile } from './lib/call.mjs'
import { linesOf } from './lib/lines.mjs'

/** Lines at a time. */
const LINES = 2000
/** Characters of a line, and of all, that are shown. */
const LINE_CHARACTERS = 2000
const ALL_CHARACTERS = 50_000
/** How large an image or a PDF may be. */
const MEDIA_BYTES = 5_000_000

/** How the files begin that `output: auto` of the tool makes a part of the result. */
const MEDIA = [/^\x89PNG\r\n\x1a\n/, /^\xff\xd8\xff/, /^GIF8[79]a/, /^RIFF.{4}WEBP/s, /^%PDF-/]

await runTool(async (args) => {
  const path = textOf(args, 'path')
  const offset = numberOf(args, 'offset', { least: 1, otherwise: 1 })
  const limit = numberOf(args, 'limit', { least: 1, otherwise: LINES })
  await withFile(path, async ({ fd, stat }) => {
    const beginning = Buffer.alloc(8192)
    const start = beginning.subarray(0, readSync(fd, beginning, 0, beginning.length, 0))
    const isMedia = MEDIA.some((signature) => signature.test(start.toString('latin1')))
    if (!isMedia && isBinary(start))
      throw new Refusal(`${shown(path)} is binary (${stat.size} bytes), not text or an image.`)
    if (isMedia && stat.size > MEDIA_BYTES)
      throw new Refusal(
        `${shown(path)} has ${stat.size} bytes; ${MEDIA_BYTES} are the most for an image or PDF.`,
      )
    const bytes = createReadStream('', { fd, start: 0, autoClose: false })
    if (isMedia) return void (await pipe(bytes))
    process.stdout.write(await numbered(bytes.setEncoding('utf8'), { path, offset, limit }))
  })
})

/** @param {AsyncIterable<Buffer>} bytes */
async function pipe(bytes) {
  for await (const chunk of bytes) process.stdout.write(chunk)
}

/**
 * Lines with their numbers, and how to go on where there are more. Of the file only what comes before is read.
 *
 * @param {AsyncIterable<string>} text
 * @param {{ path: string, offset: number, limit: number }} wanted
 */
async function numbered(text, { path, offset, limit }) {
  let number = 0
  let result = ''
  for await (const { line, left } of linesOf(text, LINE_CHARACTERS)) {
    number += 1
    if (number < offset) continue
    if (number >= offset + limit || result.length > ALL_CHARACTERS)
      return `${result}[there is more: offset ${number}]\n`
    result += `${String(number).padStart(6)}\t${shortened(line, left)}\n`
  }
  if (number === 0) return `${shown(path)} is empty.\n`
  if (number < offset) throw new Refusal(`${shown(path)} has ${number} ${number === 1 ? 'line' : 'lines'}.`)
  return result
}

/** @param {string} line @param {number} left */
function shortened(line, left) {
  const more = line.length + left - LINE_CHARACTERS
  return more <= 0 ? line : `${line.slice(0, LINE_CHARACTERS)}… (${more} more characters)`
}
