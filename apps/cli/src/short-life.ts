import { setFlagsFromString } from 'node:v8'

/**
 * What suits a program that lives for seconds and starts others, by V8's major version: flags differ, and V8 complains of
 * those it does not know.
 *
 * `interrupt-budget`: a function is optimized when it is ten times as hot as usual. By default half of a start with many
 * tools is spent optimizing what has already run most of the times it ever will.
 * `semi-space-growth-factor`: young objects stay in a megabyte. Starting a process copies the page tables of everything
 * held.
 */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  '11': ['--interrupt-budget=600000', '--semi-space-growth-factor=1'], // Node 20
  '12': ['--semi-space-growth-factor=1'], // Node 22
  '13': ['--semi-space-growth-factor=1'], // Node 24
}

/** Must come before bundles are loaded: compiled code is kept for one set of flags. */
export function prepareForShortLife(): void {
  const [major = ''] = process.versions.v8.split('.')
  for (const flag of FLAGS[major] ?? []) setFlagsFromString(flag)
}
