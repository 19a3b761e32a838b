import type { CommandEntry } from './entry.js'
import { IMPORT_ROOT, WORKSPACE } from './options.js'

export const MCP_SERVE: CommandEntry = {
  name: 'mcp serve',
  description: 'Offer tools to an MCP client, over stdin and stdout',
  arguments: [{ name: '<path>', description: 'agent directory, agent.yaml or tools file' }],
  options: [{ ...WORKSPACE, description: 'where the commands run' }, IMPORT_ROOT],
  examples: [
    ['delta mcp serve ./my-agent', 'the tools of an agent, in the current directory'],
    ['delta mcp serve ./tools.yaml -w ./workspace', 'any tools file, somewhere else'],
    ['npx -y @modelcontextprotocol/inspector delta mcp serve ./tools.yaml', 'a client to try them by hand'],
  ],
  notes: `Most clients are told of a server like this:
  {"mcpServers": {"mine": {"command": "delta", "args":
    ["mcp", "serve", "/path/to/tools.yaml", "-w", "/path/to/files"]}}}

The policy of the file counts. A call that would need a person's approval is \
refused. It ends when its input ends; a command that runs then is ended first.

Exit codes: 0 the client has closed its side, 1 a message was longer than 10 MB, 2 the \
tools do not load or the directory is missing, 130/143/129 stopped by SIGINT/SIGTERM/SIGHUP`,
}
