// Imported first: knows which files and names a power cut would take, were the system to write nothing but what it is told to.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

const { existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } =
  fs
const { fdatasyncSync, unlinkSync } = fs
const opened = new Map()
/** Files with bytes that were not synced, and names, new or gone, whose directory was not. */
const bytes = new Set()
const names = new Set()

/** What would be lost, of the paths that match. */
export function unsynced(wanted) {
  return [...new Set([...names, ...bytes])].filter((path) => wanted.test(path)).sort()
}

fs.openSync = (path, ...rest) => {
  if (!existsSync(path)) names.add(String(path))
  const descriptor = openSync(path, ...rest)
  opened.set(descriptor, String(path))
  return descriptor
}
fs.writeSync = (descriptor, ...rest) => {
  bytes.add(opened.get(descriptor))
  return writeSync(descriptor, ...rest)
}
fs.writeFileSync = (to, ...rest) => {
  bytes.add(opened.get(to) ?? String(to))
  return writeFileSync(to, ...rest)
}
for (const [name, sync] of Object.entries({ fsyncSync, fdatasyncSync })) {
  fs[name] = (descriptor) => {
    sync(descriptor)
    const path = opened.get(descriptor)
    bytes.delete(path)
    for (const each of names) if (dirname(each) === path) names.delete(each)
  }
}
fs.mkdirSync = (path, ...rest) => {
  for (let each = path; !existsSync(each); each = dirname(each)) names.add(each)
  return mkdirSync(path, ...rest)
}
fs.linkSync = (from, to) => {
  linkSync(from, to)
  names.add(to)
}
fs.renameSync = (from, to) => {
  renameSync(from, to)
  for (const paths of [bytes, names])
    for (const each of paths)
      if (each === from || each.startsWith(`${from}/`)) {
        paths.delete(each)
        paths.add(to + each.slice(from.length))
      }
  names.add(to)
}
for (const [name, remove] of Object.entries({ rmSync, unlinkSync })) {
  fs[name] = (path, ...rest) => {
    remove(path, ...rest)
    for (const paths of [bytes, names])
      for (const each of paths) if (each.startsWith(`${path}/`)) paths.delete(each)
    bytes.delete(path)
    names.add(String(path)) // node removes trees by names that are bytes
  }
}
syncBuiltinESMExports()
