import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, tool } from './environment.mjs'
import { inside, install } from './install.mjs'
import { runOrThrow } from './pack.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

/** Imports every entry; prints the absent optional peers, by entry. Any other failure ends it. */
const PROGRAM = `
import { readFileSync } from 'node:fs'
const absent = {}
for (const { entry, optional } of JSON.parse(readFileSync('entries.json', 'utf8'))) {
  try {
    if (Object.keys(await import(entry)).length === 0) throw new Error(entry + ' exports nothing')
  } catch (error) {
    const name = /^Cannot find package '([^']+)'/.exec(error.message)?.[1]
    if (!optional.includes(name)) throw error
    absent[entry] = name
  }
}
console.log(JSON.stringify(absent))
`

/**
 * Every entry of every library can be imported, and its types stand on what was installed. An entry that is for the
 * users of a framework (an optional peer) may fail for want of it, and of nothing else.
 *
 * @param {string} directory
 * @param {Packed[]} libraries
 */
export async function useLibraries(directory, libraries) {
  await install(directory, libraries)
  const entries = libraries.flatMap(entriesOf)
  writeFileSync(join(directory, 'entries.json'), JSON.stringify(entries))
  writeFileSync(join(directory, 'use.js'), PROGRAM)
  /** @type {Record<string, string>} */
  const absent = JSON.parse(await runOrThrow([process.execPath, 'use.js'], inside(directory)))

  const usable = entries.map(({ entry }) => entry).filter((entry) => !(entry in absent))
  await checkTypes(
    directory,
    usable.map((entry, index) => `import * as module${index} from '${entry}'`),
  )
  console.log(`${usable.length} entries of ${libraries.length} libraries can be imported.`)
  for (const [entry, peer] of Object.entries(absent))
    console.log(`${entry} asks for its optional peer ${peer}.`)
}

/** @param {Packed} packed */
function entriesOf({ name, manifest }) {
  const paths = Object.keys(manifest.exports ?? {}).filter((path) => !path.endsWith('.json')) // programs, not data
  const peers = Object.entries(manifest.peerDependenciesMeta ?? {})
  const optional = peers.flatMap(([peer, meta]) => (meta.optional ? [peer] : []))
  return paths.map((path) => ({ entry: name + path.slice(1), optional }))
}

/**
 * @param {string} directory
 * @param {string[]} lines import statements
 */
async function checkTypes(directory, lines) {
  writeFileSync(join(directory, 'use.ts'), `${lines.join('\n')}\nexport {}\n`)
  const options = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['use.ts'] }),
  )
  await runOrThrow(tool('tsc', '-p', '.'), inside(directory))
}
