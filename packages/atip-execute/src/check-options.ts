import { TRUST_LEVEL_ORDER } from '@delta/atip'
import { DEFAULT_RULES } from '@delta/executor'
import { isObject, requireThat } from './usage.js'

/** What more than one function is given. `of` names the function. */

export function checkTools(of: string, tools: unknown): void {
  requireThat(Array.isArray(tools), `${of}: the option tools`, TOOLS)
}

/** A call as a model made it may hold anything, but it is an object. */
export function checkCall(of: string, call: unknown): void {
  requireThat(isObject(call), `${of}: the call`, '{ id, name, arguments }, as parseToolCall makes it')
}

export function checkMapping(of: string, mapping: unknown): void {
  const { command, metadata, effects, tool } = Object(mapping)
  const isMapping = Array.isArray(command) && [metadata, effects, tool].every(isObject)
  requireThat(isMapping, `${of}: the mapping`, 'what mapToCommand found')
}

/** A rule that nobody knows, or that says what no rule can say, would forbid nothing: a guard must not vanish by a mistake. */
export function checkRules(of: string, policy: unknown): void {
  if (policy === undefined) return
  requireThat(isObject(policy), `${of}: the policy`, 'an object with rules, or nothing')
  for (const [rule, value] of Object.entries(policy)) {
    if (value === undefined) continue
    requireThat(
      RULES.includes(rule),
      `${of}: the rule ${rule}`,
      `only rules that there are: ${RULES.join(', ')}`,
    )
    if (!rule.startsWith('allow')) continue
    requireThat(typeof value === 'boolean', `${of}: the rule ${rule}`, 'true or false')
  }
  const { maxCostEstimate, minTrustLevel, confirmationHandler } = policy
  const isCost = maxCostEstimate === undefined || COSTS.includes(maxCostEstimate)
  requireThat(isCost, `${of}: the rule maxCostEstimate`, "'free', 'low', 'medium' or 'high'")
  const isTrust = minTrustLevel === undefined || Object.hasOwn(TRUST_LEVEL_ORDER, Object(minTrustLevel))
  requireThat(
    isTrust,
    `${of}: the rule minTrustLevel`,
    "'native', 'vendor', 'org', 'community', 'user' or 'inferred'",
  )
  checkFunction(`${of}: the confirmationHandler`, confirmationHandler)
}

export function checkExecution(of: string, execution: unknown): void {
  requireThat(isObject(execution), `${of}: the option execution`, 'an object with options, or nothing')
  const { timeout, maxOutputSize, cwd, env, onStdout, onStderr } = execution
  checkNumber(`${of}: the option timeout`, timeout)
  checkNumber(`${of}: the option maxOutputSize`, maxOutputSize)
  const isPath = cwd === undefined || (typeof cwd === 'string' && cwd !== '')
  requireThat(isPath, `${of}: the option cwd`, 'a path, or nothing')
  requireThat(
    env === undefined || isObject(env),
    `${of}: the option env`,
    'an object of variables, or nothing',
  )
  checkFunction(`${of}: the option onStdout`, onStdout)
  checkFunction(`${of}: the option onStderr`, onStderr)
}

export function checkOutput(of: string, output: unknown): void {
  requireThat(isObject(output), `${of}: the option output`, 'an object with options, or nothing')
  const { maxLength, redactPatterns, formatter } = output
  checkNumber(`${of}: the option maxLength`, maxLength)
  const isList = Array.isArray(redactPatterns) && redactPatterns.every((one) => one instanceof RegExp)
  const what = `${of}: the option redactPatterns`
  requireThat(redactPatterns === undefined || isList, what, 'a list of regular expressions, or nothing')
  checkFunction(`${of}: the option formatter`, formatter)
}

export function checkNumber(what: string, value: unknown): void {
  const isNumber = value === undefined || (typeof value === 'number' && value >= 0)
  requireThat(isNumber, what, 'a number, 0 or more, or nothing')
}

function checkFunction(what: string, value: unknown): void {
  requireThat(value === undefined || typeof value === 'function', what, 'a function, or nothing')
}

const TOOLS = 'a list of ATIP metadata, as loadAtip of @delta/atip reads it'
const RULES: readonly string[] = [...Object.keys(DEFAULT_RULES), 'confirmationHandler']
const COSTS: readonly unknown[] = ['free', 'low', 'medium', 'high']
