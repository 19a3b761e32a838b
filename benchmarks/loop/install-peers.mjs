import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PEERS = fileURLToPath(new URL('../peers/', import.meta.url))
const OPENS_A_DATABASE = "const Database = require('better-sqlite3'); new Database(':memory:').close()"

/**
 * Installs what `benchmarks/peers/` pins, unless it is there and made for this Node.js.
 *
 * @returns {boolean} false when it cannot be done: stderr says why, and what would help
 */
export function installPeers() {
  if (failure(process.execPath, ['-e', OPENS_A_DATABASE]) === undefined) return true
  console.error('Installing benchmarks/peers with npm. Where SQLite has to be compiled, this takes minutes.')
  const reason =
    failure('npm', ['ci', '--no-audit', '--no-fund']) ?? failure(process.execPath, ['-e', OPENS_A_DATABASE])
  if (reason === undefined) return true
  console.error(`${reason}\nLangGraph is not measured, because it could not be installed: this needs npm, its registry
and, where SQLite is not offered built for this system, Python and a C++ compiler.`)
  return false
}

/** A native module is made for one version of Node.js. That its folder exists says nothing, so it is tried. */
function failure(command, argv) {
  try {
    execFileSync(command, argv, { cwd: PEERS, stdio: 'pipe' })
    return undefined
  } catch (error) {
    return error.message.trim()
  }
}
