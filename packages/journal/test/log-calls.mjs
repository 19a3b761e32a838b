// Preloaded: writes every call that changes the disk to the file LOG_CALLS names, in order.
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
for (const name of ['writeSync', 'ftruncateSync', 'fsyncSync', 'fdatasyncSync']) {
  fs[name] = (descriptor, ...rest) => {
    if (names.has(descriptor)) say(`${name} ${names.get(descriptor)}`)
    return original[name](descriptor, ...rest)
  }
}
fs.renameSync = (from, to) => {
  original.renameSync(from, to)
  say(`renameSync ${basename(String(to))}`)
}
syncBuiltinESMExports()
