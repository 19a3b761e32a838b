import { readFileSync } from 'node:fs'
import { CREDENTIAL_NAMES, isAgentCommand } from '@delta/executor'
import type { ExpandedTool } from '@delta/tool-expander'

const STARTS_DELTA = /(?:^|[\s;&|(/])delta +(?:run|continue)\b/m
const OWN_FILE = /^\$\{AGENT_HOME\}(\/.+)/

/** A finding about a tool that starts an agent from within a shell or a script, where no key of the engine reaches it. */
export function subAgentKey(
  { command, __meta: origin }: ExpandedTool,
  { passEnv, agentHome }: { passEnv: readonly string[]; agentHome: string },
): { path: string; message: string; hint: string } | undefined {
  if (isAgentCommand(command) || passEnv.some((name) => CREDENTIAL_NAMES.includes(name))) return undefined
  const file = command.find(
    (word) => STARTS_DELTA.test(word) || startsDelta(OWN_FILE.exec(word)?.[1], agentHome),
  )
  if (file === undefined) return undefined
  const who = OWN_FILE.test(file) ? file : 'The script'
  return {
    path: origin?.syntax ?? 'command',
    message: `${who} starts delta, which does not get the model's key there.`,
    hint: `If that agent needs a key, write: pass_env: [${CREDENTIAL_NAMES[0]}]`,
  }
}

function startsDelta(path: string | undefined, agentHome: string): boolean {
  if (path === undefined) return false
  try {
    return STARTS_DELTA.test(readFileSync(agentHome + path, 'utf8'))
  } catch {
    return false // another rule says that a command is missing
  }
}
