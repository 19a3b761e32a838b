import { spawnSync } from 'node:child_process'
import { bindArguments, expandTool } from '@delta/tool-expander'

const tool = expandTool({ name: 'shout', shell: "tr '[:lower:]' '[:upper:]'", stdin: 'text' })

/** Runs one call of a model. The model reads why a call is refused. */
function call(args: unknown): string {
  const bound = bindArguments(tool, args)
  if (!bound.ok) return bound.reasons.map(({ message }) => message).join('\n')
  const [program = '', ...argv] = bound.argv
  return spawnSync(program, argv, { input: bound.stdin ?? '', encoding: 'utf8' }).stdout
}

console.log(call({ text: 'hello $(whoami)' }))
console.log(call({ txt: 'hello' }))
