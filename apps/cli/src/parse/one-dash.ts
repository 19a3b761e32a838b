import { COMMAND_TABLE } from '../table/index.js'
import { UsageError } from '../usage/usage-error.js'

/**
 * Refuses a long option with one dash, `-work-dir=here`, and a short one with "=", `-w=here`. The parser takes everything
 * after the letter for its value: the workspace would be `ork-dir=here`, and would be created.
 */
export function refuseOneDash(argv: readonly string[]): void {
  const flags = COMMAND_TABLE.flatMap(({ commands }) => commands)
    .flatMap(({ options = [] }) => options.map((option) => option.flags))
    .concat('--help', '--version')
  const named = (word: string) => flags.find((text) => text.split(/[ ,]+/).includes(word))
  for (const [index, word] of argv.entries()) {
    if (word === '--') return
    if (named(argv[index - 1] ?? '')?.includes('<')) continue // its value, whatever that looks like
    const [name = '', ...value] = word.split('=')
    if (/^-[a-z]./.test(name) && named(`-${name}`))
      throw new UsageError(`${name}: options of more than one letter take two dashes: -${name}`)
    if (/^-[a-z]$/.test(name) && value.length > 0 && named(name)?.includes('<'))
      throw new UsageError(`${name}=…: an option of a single letter takes no "=": ${name} …`)
  }
}
