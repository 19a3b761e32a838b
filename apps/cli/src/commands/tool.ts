import { resolve } from 'node:path'
import type { LoadedTools } from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import type { Policy, Tool } from '@delta/executor'
import type { PolicyDecision } from '@delta/executor/internal'
import { decide } from '@delta/executor/internal'
import { formatProblem as formatInTemplate, type Problem, toJsonSchema } from '@delta/tool-expander'
import { answerAmong, withAnswers } from '@delta/tool-expander/internal'
import { type LintFinding, lintTool } from '@delta/tool-expander/lint'
import type { AgentFlags } from '@delta/workspace'
import { Document, visit } from 'yaml'
import { loadTools } from '../agent.js'
import { commandFinder, fileFinder } from '../own-commands.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, effectsOf, inColumns, print, printable, printJson, say, table } from '../text.js'
import { UsageError } from '../usage.js'

/** `delta tool expand`: the same document with its tools in their full form and its imports resolved away. */
export async function expand(
  flags: AgentFlags & { json?: boolean; tool?: string },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { document, warnings } = await loadTools(path, flags, terminal)
  for (const warning of warnings) say(terminal, formatProblem(warning))
  const shown = flags.tool === undefined ? document : only(document, flags.tool)
  if (flags.json) printJson(terminal, shown)
  else print(terminal, asYaml(shown))
  return EXIT.completed
}

function only(document: LoadedTools['document'], name: string): object {
  const tools = (Array.isArray(document) ? document : document.tools) as { name: string }[]
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool) return { tools: [tool] }
  throw new UsageError(
    `--tool ${name}: no such tool. There are: ${tools.map((candidate) => candidate.name).join(', ')}`,
  )
}

/** `delta tool list`: the tools of an agent: how each is written, what it may do, and what the policy says to that. */
export async function list(
  flags: AgentFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { tools, policy, warnings, effectsBy } = await loadTools(path, flags, terminal)
  for (const warning of warnings) say(terminal, formatProblem(warning))
  const listed = [...tools.values()].map((tool) => ({
    tool,
    declaredBy: effectsBy(tool.expanded.name),
    ...decisionsOn(tool, policy),
  }))
  const rows = listed.map(row)
  if (flags.json) printJson(terminal, listed.map(summaryOf))
  else if (rows.length > 0) print(terminal, printable(table([HEADER, ...rows], terminal.stdout.columns)))
  return EXIT.completed
}

/** What the policy says to a call of a tool and, where that is something else, to one with a flag such as `--yes`. */
interface Decisions extends PolicyDecision {
  answered: (PolicyDecision & { flag: string }) | undefined
}

function decisionsOn({ settings, expanded }: Tool, policy: Policy | undefined): Decisions {
  const { name, parameters } = expanded
  const { trust, effects } = settings
  const judge = (each: typeof effects): PolicyDecision => {
    const decision = decide(each, policy, { trust, tool: name })
    const hasConsent = decision.decision === 'allow' && Object.hasOwn(policy?.tools ?? {}, name)
    return hasConsent ? { ...decision, reasons: ['policy.tools'] } : decision
  }
  const flags = parameters.flatMap(({ type, option_name: flag }) => (type === 'boolean' && flag ? flag : []))
  const flag = answerAmong(flags)
  const plain = judge(effects)
  if (!effects || !flag) return { ...plain, answered: undefined }
  const answered = judge(withAnswers(effects, flags))
  return { ...plain, answered: answered.decision === plain.decision ? undefined : { flag, ...answered } }
}

type Listed = { tool: Tool; declaredBy: ReturnType<LoadedTools['effectsBy']> } & Decisions

function summaryOf({ tool, declaredBy, decision, reasons, answered }: Listed): object {
  const { name, description, command, parameters, stdin, input_schema } = tool.expanded
  return {
    name,
    description: description ?? null,
    mode: modeOf(tool),
    effects: tool.settings.effects ?? null,
    effects_by: declaredBy ?? null,
    trust: tool.settings.trust ?? null,
    decision,
    reasons,
    ...(answered && { with_flag: answered }),
    command,
    parameters,
    stdin,
    input_schema,
  }
}

const HEADER = ['TOOL', 'MODE', 'POLICY', 'EFFECTS', 'DESCRIPTION']
/** Programs with dozens of options describe themselves, too, and the other columns are to be seen; `--json` has them all. */
const WIDEST_SIGNATURE = 60

function row({ tool, declaredBy, answered, ...plain }: Listed): string[] {
  const { properties, required } = toJsonSchema(tool.expanded)
  const parameters = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  const effects = effectsOf(tool.settings.effects)
  const isOfProgram = modeOf(tool) === 'atip' && declaredBy !== undefined
  return [
    inColumns(`${tool.expanded.name}(${parameters.join(', ')})`, WIDEST_SIGNATURE), // `read_file(path, lines?)`
    modeOf(tool),
    answered ? `${inWords(plain)}; with ${answered.flag} ${inWords(answered)}` : inWords(plain),
    isOfProgram ? `${effects} (${declaredBy})` : effects, // the program's file, or what the import says instead
    tool.expanded.description?.split('\n')[0] ?? '',
  ]
}

function inWords({ decision, reasons }: PolicyDecision): string {
  return reasons.length === 0 ? decision : `${decision}: ${reasons.join(', ')}`
}

/** How its author wrote it; `atip` if a program described itself. */
function modeOf({ expanded, settings }: Tool): 'exec' | 'shell' | 'command' | 'atip' {
  return settings.trust === undefined ? (expanded.__meta?.syntax ?? 'command') : 'atip'
}

interface Finding extends Partial<Pick<Problem, 'path' | 'line' | 'column'>> {
  /** Undefined for one about the file. */
  tool?: string
  /** Where the tool is defined: `file:line`. The other `line`, and `column`, point into its template. */
  defined_at?: string
  rule: string
  /** Text for a terminal, with the line of the template if the finding is about one. */
  message: string
}

/**
 * `delta tool lint`: what a reviewer would ask about tools that load. Exit code 1 if there is anything.
 *
 * @throws {ConfigError} at the end, with everything that keeps others from loading.
 */
export async function lint(
  flags: AgentFlags & { json?: boolean },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const loaded = await loadTools(path, flags, terminal, { partial: true })
  const { tools, failure } = loaded
  const problems = failure?.problems ?? []
  const broken = problems.map((each) => ({ rule: 'does-not-load', message: formatProblem(each) }))
  const findings = findingsOf(loaded, path, terminal)
  if (flags.json) printJson(terminal, [...broken, ...findings])
  else for (const { message } of findings) print(terminal, `${printable(message)}\n`)
  if (failure) throw failure
  say(terminal, `${counted(tools.size, 'tool')}, ${counted(findings.length, 'finding')}`)
  return findings.length === 0 ? EXIT.completed : EXIT.failed
}

/** What a reviewer would ask about the tools at a path, and the warnings of their files. */
export function findingsOf(
  { tools, placeOf, warnings, agentHome }: Awaited<ReturnType<typeof loadTools>>,
  path: string,
  { env }: Terminal,
): Finding[] {
  const findersOf = (home: string) => {
    const homes = { agentHome, toolHome: resolve(agentHome, home) }
    return { commandExists: commandFinder(homes, env), fileExists: fileFinder(homes) }
  }
  const aboutTools = [...tools.values()].flatMap(({ expanded, settings, home = '' }) => {
    const isImported = settings.trust !== undefined // a program that describes itself writes nothing as ${name}
    return lintTool(expanded, { ...findersOf(home), env })
      .filter(({ rule }) => !isImported || rule !== 'environment-name')
      .map((finding) => aboutTool(expanded.name, finding, placeOf(expanded.name) ?? path))
  })
  return [
    ...warnings.map((each) => ({
      rule: each.deprecated ? 'deprecated' : 'file',
      message: formatProblem(each),
    })),
    ...aboutTools,
  ]
}

function aboutTool(tool: string, finding: LintFinding, definedAt: string): Finding {
  const { rule, path, line, column, message } = finding
  const where = `${definedAt}: ${tool}: ${path}`
  const text = formatInTemplate({ ...finding, message: `${message} (${rule})` }, where)
  const place = line && column ? { line, column } : {}
  return { tool, defined_at: definedAt, rule, path, message: text, ...place }
}

/** YAML for a result, also for readers of YAML 1.1, where `yes` is a boolean. */
export function asYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Scalar(_key, scalar) {
      // a block of nothing but blanks and line breaks loses the blanks
      if (/^\s*$/.test(String(scalar.value))) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY })
}
