/** Options of the libraries, and the flags of `delta` that set them. */
const FLAGS: Readonly<Record<string, string>> = {
  agent: '--agent',
  decision: '--approve or --deny',
  force: '--force',
  'importRoots with': '--import-root',
  trustWorkspaceEnv: '--trust-workspace-env',
}

const OPTION = new RegExp(`\\bthe option (${Object.keys(FLAGS).join('|')})(?=[ .]|$)`, 'gim')

/** A library's message, with the flags of `delta` in place of the library's options. */
export function withOwnFlags(text: string): string {
  return text.replace(OPTION, (said, option: string) => FLAGS[option] ?? said)
}
