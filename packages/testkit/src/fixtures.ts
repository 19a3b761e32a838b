import { fileURLToPath } from 'node:url'

/** Paths of small programs to use as tools in tests; each is executable by itself. */
export const fixtures = {
  /** Prints its arguments as one JSON array. */
  printArgv: path('print-argv.mjs'),
  /**
   * `sleep <seconds> [file]`: prints `started <pid>` (into the file, if given), sleeps, prints `finished`. A shell and
   * its child, as most tools are: end the process group, not the pid.
   */
  sleep: path('sleep.sh'),
  /** `ignore-sigterm <seconds> [file]`: the same, and both processes ignore SIGTERM. */
  ignoreSigterm: path('ignore-sigterm.sh'),
  /** `leave-grandchild <seconds> [file]`: prints `grandchild <pid>` and exits; the grandchild keeps the pipe open. */
  leaveGrandchild: path('leave-grandchild.sh'),
  /**
   * An MCP server over stdio, `node <path>`, with a tool for each thing a server does: `count`, `add`, `env`, `fail`, `end`, `wait`,
   * `structured`; `later` needs tasks. It writes `start <pid>` and more into `server.log` of its directory, where `tools.json` changes
   * its tools.
   */
  mcpServer: path('mcp-server.mjs'),
} as const

function path(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))
}
