// Most frameworks that we are measured beside are dependencies of the embedding examples. One that needs a native module
// is apart, in `peers/`, which `--peers` installs: no clone has to compile it.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const importsOf = (manifest) => {
  const { resolve } = createRequire(new URL(manifest, import.meta.url))
  return (name) => import(pathToFileURL(resolve(name)).href)
}

export const installed = importsOf('../../examples/embedding/package.json')
export const installedPeer = importsOf('../peers/package.json')
