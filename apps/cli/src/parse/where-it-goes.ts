import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { isReadableDirectory } from '../workspace/is-readable-directory.js'

/** For a word that was typed without an option: a line that names the option it probably belongs to. */
export function whereItGoes(
  word: string,
  { command, cwd }: { command: readonly string[]; cwd: string },
): string {
  const example = (option: string) => quoteForPerson([...command, option, word])
  const name = command.at(-1) ?? ''
  const begins = ['run', 'continue'].includes(name)
  if (name !== 'continue' && isAgent(resolve(cwd, word)))
    return `An agent's directory goes after --agent: ${example('--agent')}${begins ? ' -m "…"' : ''}\n`
  if (name === 'continue' && /^\d{8}_\d{6}/.test(word))
    return `The id of a run goes after --run-id: ${example('--run-id')} -w …\n`
  if (name === 'continue' && isReadableDirectory(resolve(cwd, word)))
    return `A workspace goes after -w: ${example('-w')}\n`
  return begins ? `A message goes after -m: ${command.join(' ')} -m "…"\n` : ''
}

function isAgent(path: string): boolean {
  return ['agent.yaml', 'config.yaml'].some((file) => existsSync(join(path, file)))
}
