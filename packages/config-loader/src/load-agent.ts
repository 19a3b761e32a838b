import { basename, join } from 'node:path'
import { type ContextManifest } from '@delta/context'
import { parsePolicy, type Policy, type Tool } from '@delta/executor'
import { type LlmSettings, parseScript, type ScriptTurn } from '@delta/model'
import { AGENT_KEYS, type AgentDocument, agentSchema } from './agent-schema.js'
import { checkSources, CONTEXT_FILE, readContext } from './context.js'
import { findMainFile, openDirectory } from './directory.js'
import { ConfigError, type ConfigWarning } from './errors.js'
import { collectFindings, type Findings } from './findings.js'
import { formatReport } from './format.js'
import { HOOKS_FILE, type LoadedHooks, loadHooks } from './hooks-file.js'
import type { Hooks } from './hooks.js'
import { importRootsOf } from './import-roots.js'
import { collectTools, type Override, type ToolSet } from './imports.js'
import { readLlm } from './llm.js'
import { migrateMainFile } from './migrate.js'
import { readPrompt } from './prompt.js'
import { reportForeign, reportShape } from './report.js'
import { fitShape } from './shape.js'
import { makeSnapshot, resolveDocument, type Snapshot } from './snapshot.js'
import { readYaml, type Workplace } from './workplace.js'
import type { YamlFile } from './yaml-file.js'

export interface LoadOptions {
  /** The environment of the person who runs the agent; only `DELTA_*` names are looked at. */
  environment: NodeJS.ProcessEnv
  /** Directories, besides the agent's own, from which files may be imported. */
  importRoots?: string[]
  /** Unknown keys are errors instead of warnings. */
  strict?: boolean
}

/** One agent, validated: everything a run needs to know of its files. */
export interface Agent {
  /** Absolute, symbolic links resolved. */
  home: string
  name: string
  version?: string
  description?: string
  llm: LlmSettings
  /** The turns of a scripted model, if `llm.provider` is `script`. */
  script?: ScriptTurn[]
  maxIterations?: number
  toolConcurrency: number
  policy?: Policy
  tools: ReadonlyMap<string, Tool>
  manifest: ContextManifest
  hooks: Hooks
  snapshot: Snapshot
  /** Tools of the same name, of which the later one counts. */
  overrides: Override[]
}
