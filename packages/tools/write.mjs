#!/usr/bin/env node
import { statSync } from 'node:fs'
import { insideToWrite, Refusal, refuseOthers, runTool, shown, textOf } from './lib/call.mjs'
import { replaceFile } from './lib/replace-file.mjs'

await runTool((args) => {
  const path = textOf(args, 'path')
  const bytes = Buffer.from(textOf(args, 'content'))
  const real = insideToWrite(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found) refuseOthers(path, found)
  const check = () => {
    if (insideToWrite(path) === real) return
    throw new Refusal(`${shown(path)} changed while it was written. Try again.`) // a directory on the way became a link
  }
  replaceFile(real, bytes, { path, mode: found?.mode, check })
  process.stdout.write(`${found ? 'Replaced' : 'Created'} ${shown(path)} (${bytes.length} bytes).\n`)
})
