import { AGENT_KEYS, type AgentDocument, agentSchema } from './agent-schema.js'
import { checkSources } from './check-sources.js'
import { readContext } from './context.js'
import { findMainFile } from './directory.js'
import type { Findings } from './findings.js'
import { loadHooks } from './hooks-file.js'
import { importRootsOf } from './import-roots.js'
import { collectTools, type Override, type ToolSet } from './imports.js'
import { LLM_KEYS, readLlm } from './llm.js'
import { migrateMainFile } from './migrate.js'
import { liesInParentRun, refuseCredentials } from './nested.js'
import { readPolicy } from './policy.js'
import { readPrompt, USUAL_PROMPT } from './prompt.js'
import { reportShape } from './report.js'
import { readScript } from './script.js'
import { fitShape, type ShapeProblem } from './shape.js'
import { readYaml, type Workplace } from './workplace.js'
import type { YamlFile } from './yaml-file.js'

export interface LoadOptions {
  /** The environment of the person who runs the agent; only `DELTA_*` names are looked at. */
  environment: NodeJS.ProcessEnv
  /** Directories, besides the agent's own, from which files may be imported. */
  importRoots?: readonly string[]
  /** How messages call what is loaded, for example as the person typed it. Default: the path as given. */
  shownAs?: string
  /** Unknown keys are errors instead of warnings. */
  strict?: boolean
}

export type Parts = Awaited<ReturnType<typeof readParts>>

/** Reads everything there is, also when something was wrong before: people want to see all mistakes at once. */
export async function readParts(workplace: Workplace, options: LoadOptions, findings: Findings) {
  const { main, document } = readMainFile(workplace, findings)
  const llm = main && document && readLlm(document.llm, main, findings)
  const script = main && readScript(llm, main, workplace, findings)
  const policy = main && document && readPolicy(document.policy, main, findings)
  const prompt = readPrompt(document?.system_prompt, main, workplace, findings)
  const { tools, overrides } = await loadTools(document, main, workplace, options, findings)
  const hooks = loadHooks(document, main, workplace, findings)
  const context = readContext(workplace, prompt?.name ?? document?.system_prompt ?? USUAL_PROMPT, findings)
  if (context !== undefined) checkSources(context, prompt?.name, workplace, findings)
  if (liesInParentRun(workplace.home, options.environment)) {
    refuseCredentials({ main, llm, tools, hooks, context }, findings)
  }
  return { main, document, prompt, context, hooks, tools, overrides, llm, script, policy }
}

type Needed = 'main' | 'document' | 'context' | 'llm'
export type CompleteParts = Parts & { [part in Needed]: NonNullable<Parts[part]> }

/** A part is only missing when a problem said why. */
export function isComplete(parts: Parts): parts is CompleteParts {
  return [parts.main, parts.document, parts.context, parts.llm].every((part) => part !== undefined)
}

function readMainFile(
  workplace: Workplace,
  findings: Findings,
): { main?: YamlFile; document?: AgentDocument } {
  const { file } = readYaml(findMainFile(workplace, findings), workplace, findings)
  if (file === undefined) return {}
  if (file.value === null) {
    findings.error(
      { file: file.name },
      'The file is empty.',
      'It needs at least a name and a model: delta init writes an example.',
    )
    return {}
  }
  const main = migrateMainFile(file, findings)
  const { value, problems } = fitShape(agentSchema, main.value, AGENT_KEYS)
  reportShape(problems.map(pointToLlm), main, findings)
  return { main, ...definedDocument(value ?? withoutFaults(main.value, problems)) }
}

/** `model: gpt-4o` at the top is a frequent mistake. */
function pointToLlm(problem: ShapeProblem): ShapeProblem {
  const isOurs = problem.unknownKey && MODEL_KEYS.includes(String(problem.path[0]))
  return isOurs ? { ...problem, hint: 'It belongs under "llm:".' } : problem
}

const MODEL_KEYS = [...LLM_KEYS, 'temperature', 'max_tokens', 'top_p']

/** What is left of a main file with mistakes, so that the rest of it is looked at, too; it is never returned. */
function withoutFaults(value: unknown, problems: readonly ShapeProblem[]): AgentDocument | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const faulty = new Set(problems.map(({ path }) => path[0]))
  const rest = Object.entries(value).filter(([key]) => !faulty.has(key))
  return fitShape(agentSchema, { name: 'unnamed', ...Object.fromEntries(rest) }, AGENT_KEYS).value
}

function definedDocument(document: AgentDocument | undefined): { document?: AgentDocument } {
  return document === undefined ? {} : { document }
}

async function loadTools(
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  options: LoadOptions,
  findings: Findings,
): Promise<{ tools: ToolSet; overrides: Override[] }> {
  const overrides: Override[] = []
  if (main === undefined || document === undefined) return { tools: new Map(), overrides }
  const roots = importRootsOf(workplace.home, options, findings)
  const importer = { file: main, chain: [main.path], roots }
  const state = { workplace, findings, overrides, loaded: new Map() }
  return {
    tools: await collectTools(document.imports ?? [], document.tools ?? [], importer, state),
    overrides,
  }
}
