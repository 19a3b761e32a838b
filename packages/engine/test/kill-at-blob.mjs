// Preloaded: kills this process with -9 as soon as an image has its name in io/blobs/, before an event names it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const { renameSync } = fs
fs.renameSync = (from, to) => {
  renameSync(from, to)
  if (String(to).includes('/io/blobs/')) process.kill(process.pid, 'SIGKILL')
}
syncBuiltinESMExports()
