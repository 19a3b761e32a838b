import type { OptionEntry } from './entry.js'

export const IMPORT_ROOT: OptionEntry = {
  flags: '--import-root <directory>',
  description: 'let the agent import files from here, too; may be repeated',
  repeatable: true,
}

export const JSON_OUTPUT: OptionEntry = { flags: '--json', description: 'print JSON' }

export const RUN_ID: OptionEntry = {
  flags: '--run-id <id>',
  description: 'which run: its id, or a unique prefix of it; default: the latest',
}

export const WORKSPACE: OptionEntry = {
  flags: '-w, --work-dir <directory>',
  description: 'workspace',
  default: '.',
}

export const RUNS_DIR: OptionEntry = {
  flags: '--runs-dir <directory>',
  description: 'where the runs are kept, if that is outside the workspace and not remembered',
}

export const TRUST_WORKSPACE_ENV: OptionEntry = {
  flags: '--trust-workspace-env',
  description: "use the base URL in the workspace's .env, though others can write it",
}

/** What `run` and `continue` share. */
export const ENGINE_OPTIONS: readonly OptionEntry[] = [
  { flags: '--model <name>', description: 'as --set llm.model=<name>' },
  {
    flags: '--set <path=value>',
    description:
      'set a value of the agent for this run, such as llm.temperature=0 or tools.bash.timeout_ms=5000; nothing behind the = removes the key; may be repeated',
    repeatable: true,
  },
  {
    flags: '--max-iterations <n>',
    description: 'think-act cycles after a message before the run fails (default: agent.yaml, or 30)',
  },
  {
    flags: '-i, --interactive',
    description: 'answer questions on stdin, one line each; an approval only at a terminal',
  },
  {
    flags: '--format <format>',
    description:
      'on stdout: text, the answer; json, one object with status, answer and usage; stream-json, the journal line by line; raw, the answer byte for byte',
    choices: ['text', 'json', 'stream-json', 'raw'],
    default: 'text',
  },
  { flags: '-q, --quiet', description: 'no progress on stderr' },
  {
    flags: '-v, --verbose',
    description: 'more progress on stderr: whole outputs, hooks, tokens (which a terminal shows anyway)',
  },
  { flags: '--no-sync', description: 'do not wait for the disk: faster, but a power cut may lose steps' },
  IMPORT_ROOT,
  { flags: '--strict', description: 'unknown keys in the agent are errors' },
  TRUST_WORKSPACE_ENV,
]
