// Preloaded: every file system answers as one without hard links does, by the code in NO_HARD_LINKS.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

fs.linkSync = (from, to) => {
  const code = process.env.NO_HARD_LINKS
  throw Object.assign(new Error(`${code}: refused, link '${from}' -> '${to}'`), { code, syscall: 'link' })
}
syncBuiltinESMExports()
