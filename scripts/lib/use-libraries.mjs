import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tool } from './environment.mjs'
import { inside, install } from './install.mjs'
import { runOrThrow } from './pack.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

/** What a careful TypeScript program sets besides `strict`. */
const STRICTEST = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false }

/** Declarations that the frameworks' own need and do not bring: the AI SDK's. */
const MISSING_TYPES = ['@types/json-schema']

/**
 * The libraries work without the frameworks they adapt to, by `import` and by `require`, and under the strictest type checker,
 * which the frameworks' own declarations do not pass; and with them, every entry of every library can be imported
 * and its types stand on what was installed.
 *
 * @param {string} directory
 * @param {Packed[]} libraries
 */
export async function useLibraries(directory, libraries) {
  await install(directory, libraries)
  const alone = libraries.map(({ name }) => `await import('${name}')`)
  writeFileSync(join(directory, 'alone.js'), alone.join('\n'))
  await runOrThrow([process.execPath, 'alone.js'], inside(directory))
  const required = libraries.map(({ name }) => `require('${name}')`)
  writeFileSync(join(directory, 'alone.cjs'), required.join('\n'))
  await runOrThrow([process.execPath, 'alone.cjs'], inside(directory))
  const imports = libraries.map(({ name }, index) => `import * as module${index} from '${name}'`)
  await checkTypes(directory, imports, { ...STRICTEST, module: 'nodenext' })
  await checkTypes(directory, imports, { ...STRICTEST, module: 'esnext', moduleResolution: 'bundler' })

  await install(directory, libraries, [...libraries.flatMap(peersOf), ...MISSING_TYPES])
  const entries = libraries.flatMap(entriesOf)
  const lines = entries.map((entry, index) => `import * as module${index} from '${entry}'`)
  const names = entries.map((_, index) => `module${index}`)
  const program = `${lines.join('\n')}
const entries = ${JSON.stringify(entries)}
const empty = [${names}].flatMap((module, index) => Object.keys(module).length === 0 ? [entries[index]] : [])
if (empty.length > 0) throw new Error('These export nothing: ' + empty.join(', '))
`
  writeFileSync(join(directory, 'use.js'), program)
  await runOrThrow([process.execPath, 'use.js'], inside(directory))
  await checkTypes(directory, lines)
  console.log(`${entries.length} entries of ${libraries.length} libraries can be imported.`)
}

/**
 * The frameworks in the versions that run under our oldest Node.js, as our own tests use them.
 *
 * @param {Packed} packed
 */
function peersOf({ manifest }) {
  const peers = Object.keys(manifest.peerDependencies ?? {})
  return peers.map((name) => `${name}@${manifest.devDependencies?.[name]}`)
}

/** @param {Packed} packed */
function entriesOf({ name, manifest }) {
  const paths = Object.keys(manifest.exports ?? {}).filter((path) => !path.endsWith('.json')) // programs, not data
  return paths.map((path) => name + path.slice(1))
}

/**
 * @param {string} directory
 * @param {string[]} lines import statements
 * @param {Record<string, unknown>} [compilerOptions] over `strict` for Node.js
 */
async function checkTypes(directory, lines, compilerOptions) {
  writeFileSync(join(directory, 'use.ts'), `${lines.join('\n')}\nexport {}\n`)
  const options = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
    ...compilerOptions,
  }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['use.ts'] }),
  )
  await runOrThrow(tool('tsc', '-p', '.'), inside(directory))
}
