import manifest from '../../package.json' with { type: 'json' }
import commands from '../described-commands.json' with { type: 'json' }
import { EXIT, type Terminal } from '../terminal.js'
import { printJson } from '../text.js'

/** `delta --agent`: this command line in ATIP. `scripts/describe-commands.mjs` makes the file of its commands. */
export async function execute(_flags: object, terminal: Terminal): Promise<number> {
  const { version, description } = manifest
  const trust = { source: 'native', verified: false }
  printJson(terminal, { atip: '0.6', name: 'delta', version, description, trust, commands })
  return EXIT.completed
}
