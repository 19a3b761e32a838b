/** Options of the libraries, and the flags of ours that set them. */
const FLAGS: Readonly<Record<string, string>> = {
  agent: '--agent',
  decision: '--approve or --deny',
  force: '--force',
  'importRoots with': '--import-root',
  trustWorkspaceEnv: '--trust-workspace-env',
}

const OPTION = new RegExp(`\\bthe option (${Object.keys(FLAGS).join('|')})(?=[ .]|$)`, 'gim')

/** A library's text for people, who know its options by the flags of `delta`. */
export function withOwnFlags(text: string): string {
  return text.replace(OPTION, (said, option: string) => FLAGS[option] ?? said)
}
