import { findMainFile } from '../files/directory.js'
import type { LoadCache } from '../files/load-cache.js'
import { readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import { AGENT_KEYS, type AgentDocument, agentSchema } from '../schemas/agent-schema.js'
import { reportShape } from '../shape/report.js'
import { readSets, type SetValue, setIn, setsBelow } from '../shape/set.js'
import { fitShape, withoutFaults } from '../shape/shape.js'
import { importRootsOf } from '../tools/import-roots.js'
import { collectTools, followGuess } from '../tools/imports.js'
import { readPolicy } from '../tools/policy.js'
import { setTools } from '../tools/set-tools.js'
import type { Override, ToolSet } from '../tools/tool-set.js'
import type { YamlFile } from '../yaml/file.js'
import { checkSources } from './check-sources.js'
import { type LoadedContext, readContext } from './context.js'
import { loadHooks } from './hooks-file.js'
import { readLlm } from './llm.js'
import { migrateMainFile } from './migrate.js'
import { pointToLlm } from './missing-llm.js'
import { liesInParentRun, refuseCredentials, runsAbove } from './nested.js'
import { readPrompt, USUAL_PROMPT } from './prompt.js'
import { readScript } from './script.js'

/** What loading depends on besides the files. */
export interface LoadOptions {
  /** The environment of the person who runs the agent; only `DELTA_*` names are looked at. */
  environment: NodeJS.ProcessEnv
  /** Directories, besides the agent's own, from which files may be imported. */
  importRoots?: readonly string[] | undefined
  /** How messages call what is loaded, for example as the person typed it. Default: the path as given. */
  shownAs?: string | undefined
  /**
   * Values that count in place of what the files say, each as `path=value`: `llm.model=gpt-4o`, `tools.bash.timeout_ms=500`,
   * `context.sources.memory.max_tokens=`. A later one of the same path wins; unknown keys in them are errors.
   */
  overrides?: readonly string[] | undefined
  /** Unknown keys are errors instead of warnings. */
  strict?: boolean | undefined
  /** Spares the next load most of the work that tools make. */
  cache?: LoadCache | undefined
}

export type Parts = Awaited<ReturnType<typeof readParts>>

/** Reads everything there is, also when something was wrong before: people want to see all mistakes at once. */
export async function readParts(workplace: Workplace, options: LoadOptions, findings: Findings) {
  const sets = readSets(options.overrides ?? [], findings)
  const mainFile = readMainFile(workplace, sets, findings)
  const { main, document } = mainFile
  const llm = main && document && readLlm(document.llm, main, findings)
  const script = main && readScript(llm, main, workplace, findings)
  const policy = main && document && readPolicy(document.policy, main, findings)
  const prompt = readPrompt(document?.system_prompt, main, workplace, findings)
  const { tools, overrides } = await loadTools(mainFile, workplace, sets, options, findings)
  const hooks = loadHooks(document, main, workplace, setsBelow(sets, 'hooks'), findings)
  const promptFile = prompt?.name ?? document?.system_prompt ?? USUAL_PROMPT
  const context = readContext(workplace, promptFile, setsBelow(sets, 'context'), findings)
  if (context !== undefined) checkSources(context, prompt?.name, workplace, findings)
  const isWritten = liesInParentRun(workplace.home, options.environment)
  if (isWritten || runsAbove(options.environment).length > 0)
    refuseCredentials({ main, llm, tools, hooks, context }, isWritten, findings)
  return { main, document, prompt, context, hooks, tools, overrides, llm, script, policy }
}

type Needed = 'main' | 'document' | 'llm'
export type CompleteParts = Parts & { [part in Needed]: NonNullable<Parts[part]> } & {
  context: Required<LoadedContext>
}

/** A part is only missing when a problem said why. */
export function isComplete(parts: Parts): parts is CompleteParts {
  const { main, document, context, llm } = parts
  return [main, document, context?.manifest, llm].every((part) => part !== undefined)
}

interface MainFile {
  main?: YamlFile
  document?: AgentDocument
  /** In place of the others, if the file is not valid YAML. */
  guess?: YamlFile
}

function readMainFile(workplace: Workplace, sets: readonly SetValue[], findings: Findings): MainFile {
  const { file, guess } = readYaml(findMainFile(workplace, findings), workplace, findings)
  if (file === undefined) return guess === undefined ? {} : { guess }
  if (file.value === null) {
    const hint = 'It needs at least a name and a model: delta init writes an example.'
    findings.error({ file: file.name }, 'The file is empty.', hint)
    return {}
  }
  const migrated = migrateMainFile(file, findings)
  const set = setIn(migrated.value, migrated, [], sets.filter(isOfMainFile), findings)
  const main = { ...set.file, value: hasAllTools(sets) ? withoutImports(set.value) : set.value }
  const known = sets.length === 0 ? AGENT_KEYS : [...AGENT_KEYS, 'context', 'hooks']
  const { value, problems } = fitShape(agentSchema, main.value, known)
  reportShape(pointToLlm(problems, main.value), main, findings)
  const rest = () => withoutFaults(agentSchema, main.value, problems, AGENT_KEYS, { name: 'unnamed' })
  return { main, ...definedDocument(value ?? rest()) }
}

function isOfMainFile({ path: [key, ...inner] }: SetValue): boolean {
  return key !== 'context' && key !== 'hooks' && (key !== 'tools' || inner.length === 0)
}

/** `tools=…` is all tools that there are: none is imported. */
function hasAllTools(sets: readonly SetValue[]): boolean {
  return sets.some(({ path }) => path.join('.') === 'tools')
}

function withoutImports(value: unknown): unknown {
  const { imports: _, ...rest } = value as Record<string, unknown>
  return rest
}

function definedDocument(document: AgentDocument | undefined): { document?: AgentDocument } {
  return document === undefined ? {} : { document }
}

async function loadTools(
  { main, document, guess }: MainFile,
  workplace: Workplace,
  sets: readonly SetValue[],
  options: LoadOptions,
  findings: Findings,
): Promise<{ tools: ToolSet; overrides: Override[] }> {
  const overrides: Override[] = []
  const cache = hasAllTools(sets) ? undefined : workplace.cache // it knows the tools of the file
  const state = { workplace: { ...workplace, cache }, findings, overrides, loaded: new Map() }
  const roots = importRootsOf(workplace.home, options, findings)
  if (guess !== undefined) {
    return { tools: await followGuess(guess, { chain: [guess.path], roots }, state), overrides }
  }
  if (main === undefined || document === undefined) return { tools: new Map(), overrides }
  const importer = { file: main, chain: [main.path], roots }
  const { imports, tools } = document
  const before = findings.problems.length
  const collected = await collectTools(imports ?? [], tools ?? [], importer, state)
  const hasAll = findings.problems.length === before
  const inTools = setsBelow(sets, 'tools').filter(({ path }) => path.length > 0)
  return { tools: setTools(collected, inTools, { hasAll }, findings), overrides }
}
