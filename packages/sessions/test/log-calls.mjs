// Preloaded: writes every call that makes something durable, or visible, to the file LOG_CALLS names, in order.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

const original = { ...fs }
const names = new Map()
const say = (line) => original.appendFileSync(process.env.LOG_CALLS, `${line}\n`)

fs.openSync = (path, ...rest) => {
  const descriptor = original.openSync(path, ...rest)
  names.set(descriptor, basename(String(path)))
  return descriptor
}
fs.fsyncSync = (descriptor) => {
  original.fsyncSync(descriptor)
  say(`synced ${names.get(descriptor)}`)
}
fs.renameSync = (from, to) => {
  original.renameSync(from, to)
  say(`renamed ${basename(String(to))}`)
}
syncBuiltinESMExports()
