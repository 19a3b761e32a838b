/**
 * The words before a command in what we advise to type. Started by npx, there is no `delta` to be found afterwards; what
 * a run starts finds it on its PATH. In a clone the name is that of the alias which its README gives.
 */
export function spokenName(env: NodeJS.ProcessEnv): string[] {
  return env.npm_lifecycle_event === 'npx' && env.DELTA_PARENT_RUN === undefined
    ? ['npx', '@delta/cli']
    : ['delta']
}

/** A text that advises a command of `delta`, with the words that start it here. A path that ends so is none. */
export function withSpokenName(text: string, env: NodeJS.ProcessEnv): string {
  const name = spokenName(env).join(' ')
  return name === 'delta' ? text : text.replace(COMMAND, name)
}

const COMMAND =
  /(?<![\w/@.-])delta(?= (?:run|continue|init|tool|list-runs|show|context|journal|config|mcp|completion)\b)/g
