import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Writes the licence of every package whose code is bundled to one file: most licences ask that they go along.
 *
 * @param path - Of the file, relative to the directory the bundler runs in.
 * @param others - Directories of packages that another bundler put into what is shipped.
 */
export function thirdPartyLicenses(path: string, others: readonly string[]): Plugin {
  return {
    name: 'third-party-licenses',
    setup(build) {
      build.initialOptions.metafile = true
      build.onEnd(({ metafile }) => {
        const inputs = Object.values(metafile?.outputs ?? {}).flatMap((output) =>
          Object.entries(output.inputs),
        )
        const bundled = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        const directories = new Set([...bundled.flatMap(([file]) => packageDirectory(file)), ...others])
        const sections = [...directories].map(describe).sort()
        mkdirSync(dirname(path), { recursive: true }) // tsup writes its own files later
        writeFileSync(path, sections.join(`\n${'-'.repeat(80)}\n\n`))
      })
    },
  }
}

/** The innermost installed package that a file belongs to; none for our own files. */
function packageDirectory(file: string): string[] {
  const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)
  return found ? [found[0]] : []
}

function describe(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const text = licenseText(directory)
  if (text === undefined && license === undefined) throw new Error(`${name} says nothing about its licence`)
  return `${name} ${version} (${license ?? 'see below'})\n\n${text ?? 'Its package holds no text of its licence.\n'}`
}

function licenseText(directory: string): string | undefined {
  const file = readdirSync(directory).find((name) => /^licen[cs]e(\.|$)/i.test(name))
  return file === undefined ? undefined : `${readFileSync(join(directory, file), 'utf8').trim()}\n`
}
