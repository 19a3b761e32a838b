import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isConfigError, loadAgent } from '@delta/config-loader'

const directory = mkdtempSync(join(tmpdir(), 'counter-'))
const main = `name: counter
llm: { model: gpt-4o }
tools:
  - name: count_lines
    exec: "cat \${file} | wc -l"
`
writeFileSync(join(directory, 'agent.yaml'), main)
writeFileSync(join(directory, 'hooks.yaml'), 'pre_tool_exection: { command: [guard] }\n')
writeFileSync(join(directory, 'context.yaml'), 'sources: [{ type: journal }]\n')
try {
  await loadAgent(directory, { shownAs: 'counter' })
} catch (error) {
  if (!isConfigError(error)) throw error
  console.log(error.message)
}
