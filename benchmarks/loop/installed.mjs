// The frameworks that we are measured beside are dependencies of the embedding examples.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const { resolve } = createRequire(new URL('../../examples/embedding/package.json', import.meta.url))

export const installed = (name) => import(pathToFileURL(resolve(name)).href)
