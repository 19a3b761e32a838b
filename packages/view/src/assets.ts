import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ViewError } from './errors.js'

/** Where the built page lies: beside this module when it is built. */
export const ASSETS = join(import.meta.dirname, 'assets')

/** A file of the page, held in memory. */
export interface Asset {
  type: string
  bytes: Buffer
  gzip: Buffer
  /** True: its name changes with its content. */
  isHashed: boolean
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/**
 * The built page, by path of its address: `/` and `/assets/…`. Other files than its three kinds are not served.
 *
 * @throws {ViewError} `ERR_VIEW_ASSETS`: it is not built.
 */
export function readAssets(directory: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>()
  for (const name of namesIn(directory)) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const bytes = readFileSync(join(directory, name))
    const isShell = name === 'index.html'
    const asset = { type, bytes, gzip: gzipSync(bytes, { level: 9 }), isHashed: !isShell }
    assets.set(isShell ? '/' : `/assets/${name}`, asset)
  }
  if (assets.has('/')) return assets
  throw new ViewError('ERR_VIEW_ASSETS', 'The page is not built. Run: npm run build')
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
