/**
 * The words that come before a command in our advice. After `npx` there is no `delta` to be found, but commands started by a
 * run find it on their PATH. In a clone, `delta` is the alias that the README gives.
 */
export function spokenName(env: NodeJS.ProcessEnv): string[] {
  return env.npm_lifecycle_event === 'npx' && env.DELTA_PARENT_RUN === undefined
    ? ['npx', '@delta/cli']
    : ['delta']
}

/** A text that advises a `delta` command, with the words that start it here. Leaves paths alone. */
export function withSpokenName(text: string, env: NodeJS.ProcessEnv): string {
  const name = spokenName(env).join(' ')
  return name === 'delta' ? text : text.replace(COMMAND, name)
}

const COMMAND =
  /(?<![\w/@.-])delta(?= (?:run|continue|init|tool|list-runs|show|context|journal|config|mcp|completion)\b)/g
