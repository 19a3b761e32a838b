// Preloaded: the process stops itself between the fence and the write of an event that says "frozen".
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { writeSync } = fs
fs.writeSync = (descriptor, data, ...rest) => {
  if (String(data).includes('frozen')) process.kill(process.pid, 'SIGSTOP')
  return writeSync(descriptor, data, ...rest)
}
syncBuiltinESMExports()
