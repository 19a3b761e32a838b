import { LLM_KEYS } from '@delta/model'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ShapeProblem } from '../shape/shape-problem.js'
import type { YamlFile } from '../yaml/file.js'
import { API_PARAMETERS } from './api-parameters.js'

/** Says that `llm:` is missing or empty, and what to write. Settings of the model that stand beside it are a part of that. */
export function reportMissingLlm(file: YamlFile, findings: Findings): void {
  const isEmpty = isMap(file.value) && Object.hasOwn(file.value, 'llm')
  const fault = `"llm" is ${isEmpty ? 'empty' : 'missing'}`
  const settings = settingsBesideLlm(file.value)
  const key = settings.has('model') ? 'model' : [...settings.keys()][0]
  const whole = new Map(settings.has('model') || settings.has('provider') ? [] : [['model', 'gpt-4o']])
  for (const [name, value] of settings) whole.set(name, value)

  const place = file.locate(key === undefined ? (isEmpty ? ['llm'] : []) : [key], { key: true })
  const message = key === undefined ? `${fault}.` : `${fault}; "${key}" belongs under it.`
  const where = ['', ' in its place'][settings.size] ?? ' in their place'
  findings.error(place, message, `Write llm: ${inOneLine(whole)}${where}.`)
}

/** True of an `llm` that is missing, that is an empty key, or a map without settings. */
export function saysNothing(llm: unknown): boolean {
  return llm === undefined || llm === null || (isMap(llm) && Object.keys(llm).length === 0)
}

/** `model: gpt-4o` at the top is a frequent mistake: it is said where it belongs, once. */
export function pointToLlm(problems: readonly ShapeProblem[], main: unknown): ShapeProblem[] {
  const settings = settingsBesideLlm(main)
  const isTold = isMap(main) && saysNothing(main.llm) // by reportMissingLlm
  return problems.flatMap((problem) => {
    const key = String(problem.path[0])
    if (!problem.unknownKey || !isSetting(key)) return [problem]
    const setting = settings.get(key)
    if (setting === undefined) return [{ ...problem, hint: 'It belongs under "llm:".' }]
    const hint = `It belongs under "llm:", as in llm: ${inOneLine(new Map([[key, setting]]))}.`
    return isTold ? [] : [{ ...problem, hint }]
  })
}

/** The settings of the model that stand in the main file itself, as they are written. */
function settingsBesideLlm(main: unknown): Map<string, string> {
  const entries = Object.entries(isMap(main) ? main : {})
  return new Map(
    entries.flatMap(([key, value]) => (isSetting(key) && isSingle(value) ? [[key, asWritten(value)]] : [])),
  )
}

/** A key that has a meaning under `llm:`. */
function isSetting(key: string): boolean {
  return LLM_KEYS.includes(key) || API_PARAMETERS.includes(key)
}

/** `{ model: gpt-4o, temperature: 0.2 }`. */
function inOneLine(settings: ReadonlyMap<string, string>): string {
  return `{ ${[...settings].map(([key, value]) => `${key}: ${value}`).join(', ')} }`
}

function isSingle(value: unknown): boolean {
  return (
    (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'boolean'
  )
}

function asWritten(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value)
}

const PLAIN = /^(?!(?:true|false|null)$)[A-Za-z][\w./@-]*(?::[\w./@-]+)*$/i
