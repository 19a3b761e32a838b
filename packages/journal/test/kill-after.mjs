// Preloaded: kills this process with -9 after the n-th call that changes the disk, or half-way through it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [wanted, how] = (process.env.KILL_AFTER ?? '0').split(' ')
const original = { ...fs }
let calls = 0

function die() {
  process.kill(process.pid, 'SIGKILL')
}

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'fdatasyncSync',
  'ftruncateSync',
  'linkSync',
  'renameSync',
  'rmSync',
  'mkdirSync',
]) {
  fs[name] = (...args) => {
    if (name === 'openSync' && isForReading(args[1])) return original[name](...args)
    calls += 1
    const isLast = calls === Number(wanted)
    if (isLast && how === 'half' && name === 'writeSync') {
      const bytes = Buffer.from(args[1])
      original.writeSync(args[0], bytes.subarray(0, bytes.length / 2))
      die()
    }
    try {
      return original[name](...args)
    } finally {
      if (isLast) die()
    }
  }
}
syncBuiltinESMExports()

/** As Node.js itself opens modules since version 22: killed there, a process has not begun. */
function isForReading(flags = 'r') {
  return flags === 'r' || flags === original.constants.O_RDONLY
}
