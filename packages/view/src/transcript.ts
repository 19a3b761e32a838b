import { createHash } from 'node:crypto'
import type { CallCard, RunRow, WholeStep } from './api.js'

const NAMES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** Characters that cannot be seen and could change how the line around them reads; a line break and a tab stay. */
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A text of the run as text of an HTML document, whatever it holds. All of the transcript goes through it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => NAMES[character] ?? '').replace(UNSEEN, '\ufffd')
}

/** The document up to its body: it may run its own script and style sheet, and load nothing. */
export function documentHead(
  rows: readonly RunRow[],
  { script, style }: { script: string; style: string },
): string {
  const [only, ...others] = rows
  const title = others.length === 0 && only?.task ? only.task.split('\n')[0] : undefined
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title ?? 'delta: runs')}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
`
}

/** What the policy of a document calls a script or a style sheet. */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** Title and sums of a run, for a reader without JavaScript. */
export function runTranscript(row: RunRow): string {
  const { id, task, agent, models, status, reasonCode, steps, tokens, isEstimated, cost, wallMs, problem } =
    row
  const sums = [
    status.toLowerCase().replaceAll('_', ' '),
    reasonCode,
    `${steps} steps`,
    `${isEstimated ? '~' : ''}${tokens.toLocaleString('en-US')} tokens`,
    cost === null ? null : `$${cost.toFixed(4)}`,
    duration(wallMs),
  ]
  return `<noscript><article class="transcript">
<h1>${escapeHtml(task ?? id)}</h1>
<p>${escapeHtml([id, agent, ...models].filter(Boolean).join(' · '))}</p>
<p>${escapeHtml(sums.filter(Boolean).join(' · '))}</p>
${problem === undefined ? '' : `<p>${escapeHtml(problem)}</p>\n`}${isGoing(row)}</article></noscript>
`
}

function isGoing({ status }: RunRow): string {
  return status === 'RUNNING' ? '<p>It was going on when this file was made.</p>\n' : ''
}

/** Steps of a run, for a reader without JavaScript. */
export function stepsTranscript(steps: readonly WholeStep[]): string {
  return `<noscript><article class="transcript">\n${steps.map(stepTranscript).join('')}</article></noscript>\n`
}

function stepTranscript({ card, journal }: WholeStep): string {
  const { n, starts, said, reasoning, thought, calls, errors } = card
  const parts = [
    ...starts.filter(({ isResumed }) => isResumed).map(resumed),
    ...said.map(({ role, text }) => paragraph(`${role}: ${text.text}`)),
    reasoning?.text ? `<p><i>${escapeHtml(reasoning.text)}</i></p>\n` : '',
    thought?.text ? paragraph(thought.text) : '',
    ...errors.map(({ message }) => paragraph(`error: ${message}`)),
    ...calls.map((call) => callTranscript(call, journal)),
  ]
  return `<h2>Step ${n}</h2>\n${parts.join('')}`
}

function resumed({ engine, after, changes }: WholeStep['card']['starts'][number]): string {
  return paragraph([`engine ${engine ?? ''} went on ${after ?? ''}`, ...changes].join(' · '))
}

function paragraph(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>\n`
}

const OUTPUT_CHARACTERS = 2000

function callTranscript(call: CallCard, journal: WholeStep['journal']): string {
  const { actionId, tool, status, statusWords, exitCode, durationMs, output } = call
  const result = resultIn(journal, actionId) ?? [...output.first, ...output.last].join('\n')
  const ended = [
    exitCode === null ? (statusWords ?? status) : `exit code ${exitCode}`,
    ...(durationMs === null ? [] : [duration(durationMs)]),
  ]
  const rest = result.length > OUTPUT_CHARACTERS ? '\n…' : ''
  return `<h3>${escapeHtml(tool)} <code>${escapeHtml(call.arguments.text)}</code></h3>
<p>${escapeHtml(ended.join(' · '))}</p>
${result === '' ? '' : `<pre>${escapeHtml(result.slice(0, OUTPUT_CHARACTERS) + rest)}</pre>\n`}`
}

/** The result of a call as the model reads it. The line of a long one is cut, and then is no JSON any more. */
function resultIn(journal: WholeStep['journal'], actionId: string): string | undefined {
  for (const { type, line } of journal) {
    if (type !== 'ACTION_RESULT' || Buffer.byteLength(line.text) < line.bytes) continue
    const { action_id: id, observation_content: text } = JSON.parse(line.text) as Record<string, unknown>
    if (id === actionId && typeof text === 'string') return text
  }
  return undefined
}

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
