import { join } from 'node:path'
import { loadToolsFile } from '@delta/config-loader'

/** The tools of the agent beside this file; a file with a list of tools would do as well. */
const { tools: byName } = await loadToolsFile(join(import.meta.dirname, 'agent'), {
  env: process.env,
})

export const tools = [...byName.values()]
