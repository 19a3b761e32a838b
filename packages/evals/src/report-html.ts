import { type EvalCommands, USUAL_COMMANDS } from './commands.js'
import type { EvalReport, ReportedVariant } from './report.js'
import { fixed, money, partsOf, signed } from './report-text.js'

/**
 * A report as one page that needs nothing else: no script, no file, no network. At most 150 kB: of many tasks it shows those on
 * which the variants differ most.
 */
export function reportHtml(report: EvalReport, commands = USUAL_COMMANDS): string {
  const title = escaped(`${report.eval}: evaluation`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
${words(report, commands)}
${[intervals(report), costs(report), differences(report), grid(report)].join('')}</body>
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; --line: #8888; --mark: #2a6fdb; --good: #2a6fdb; --bad: #d9822b }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
h1 { font-size: 1.6rem }
h2 { font-size: 1.2rem; margin-top: 2rem }
pre, .wide { overflow-x: auto }
pre { font-size: 13px }
.alarm { color: var(--bad); font-weight: bold }
svg { display: block; max-width: 100%; min-width: 32rem; height: auto; font: 12px system-ui, sans-serif }
text { fill: currentColor }
.axis { stroke: var(--line) }
.mark { fill: var(--mark); stroke: var(--mark); stroke-width: 2 }
.good { fill: var(--good) }
.bad { fill: var(--bad) }
.pareto { fill: none; stroke: var(--mark); stroke-dasharray: 4 3 }
table { border-collapse: collapse; font-size: 13px }
th { text-align: left; font-weight: normal; padding: 0 .6rem 0 0; white-space: nowrap }
td { padding: 0 .5rem; text-align: right; border: 1px solid var(--line) }
`

/** Escapes `"`, too: texts stand in attributes. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

function words(report: EvalReport, commands: EvalCommands): string {
  const blocks = partsOf(report, commands).flatMap(({ kind, lines }) => {
    const texts = lines.map((line) => escaped(line.trimEnd()))
    if (kind === 'table') return texts.length === 0 ? [] : `<pre>${texts.join('\n')}</pre>`
    return texts.map((text) => (kind === 'alarm' ? `<p class="alarm">${text}</p>` : `<p>${text}</p>`))
  })
  return blocks.join('\n')
}

/** What does not fit stands in the title of its element. */
function short(text: string): string {
  return cut(text, 28)
}

function whole(text: string): string {
  return cut(text, 80)
}

function cut(text: string, longest: number): string {
  const characters = [...text]
  return escaped(characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : text)
}

const WIDTH = 760
const LEFT = 200
const ROW = 22

/** Where a value stands on the horizontal axis. */
function axis(values: readonly number[]): (value: number) => number {
  const low = Math.min(...values)
  const high = Math.max(...values)
  return (value) => at(LEFT + ((WIDTH - LEFT - 60) * (value - low)) / (high - low || 1))
}

/** Tenths of a pixel are enough. */
function at(value: number): number {
  return Math.round(value * 10) / 10
}

type Scored = ReportedVariant & { score: NonNullable<ReportedVariant['score']> }

function scoredIn({ variants }: EvalReport): Scored[] {
  return variants.filter((variant): variant is Scored => variant.score !== null).slice(0, MOST_VARIANTS)
}

const MOST_VARIANTS = 40

function section(title: string, body: string): string {
  return `<h2>${title}</h2>\n${body}\n`
}

function svg(height: number, label: string, body: string): string {
  return `<div class="wide"><svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${label}">${body}</svg></div>`
}

function intervals(report: EvalReport): string {
  const variants = scoredIn(report)
  if (variants.length === 0) return ''
  const ends = variants.flatMap(({ score }) => [score.estimate, score.low ?? 0, score.high ?? 0])
  const x = axis([0, 1, ...ends])
  const rows = variants.map(({ name, score }, index) => {
    const y = ROW * index + 16
    const { estimate, low, high } = score
    const line = low === null ? '' : `<line class="mark" x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}"/>`
    const words = low === null ? fixed(estimate) : `${fixed(estimate)} (${fixed(low)} .. ${fixed(high)})`
    return `<g><title>${whole(name)}: ${words}</title><text x="0" y="${y + 4}">${short(name)}</text>${line}<circle class="mark" cx="${x(estimate)}" cy="${y}" r="4"/></g>`
  })
  const bottom = ROW * variants.length + 8
  return section(
    'Score, with its 95 % interval',
    svg(bottom + 24, 'Scores with intervals', rows.join('') + scale(x, [0, 0.25, 0.5, 0.75, 1], bottom)),
  )
}

function scale(x: (value: number) => number, values: readonly number[], y: number): string {
  return values
    .map(
      (value) =>
        `<line class="axis" x1="${x(value)}" x2="${x(value)}" y1="0" y2="${y}"/><text x="${x(value)}" y="${y + 16}" text-anchor="middle">${value}</text>`,
    )
    .join('')
}

/** Only agents whose cost is known for all tokens. */
function costs(report: EvalReport): string {
  const points = scoredIn(report).flatMap(({ name, kind, score, totals, runs }) =>
    kind === 'agent' && totals !== null && totals.cost !== null && totals.priced === 1
      ? [{ name, score: score.estimate, cost: totals.cost / runs }]
      : [],
  )
  const most = Math.max(0, ...points.map(({ cost }) => cost))
  if (points.length < 2 || most === 0) return ''
  const x = axis([0, most])
  const height = 240
  const scores = points.map(({ score }) => score)
  const [low, high] = [Math.min(0, ...scores), Math.max(1, ...scores)]
  const y = (score: number) => at(height - ((height - 20) * (score - low)) / (high - low))
  const best = points
    .filter(({ score, cost }) =>
      points.every(
        (other) => other.score < score || other.cost > cost || (other.score === score && other.cost === cost),
      ),
    )
    .sort((one, other) => one.cost - other.cost)
  const dots = points.map(
    ({ name, score, cost }) =>
      `<g><title>${whole(name)}: ${fixed(score)}, ${money(cost)} a run</title><circle class="mark" cx="${x(cost)}" cy="${y(score)}" r="4"/><text x="${x(cost) + 8}" y="${y(score) - 6}">${short(name)}</text></g>`,
  )
  const line = `<polyline class="pareto" points="${best.map(({ score, cost }) => `${x(cost)},${y(score)}`).join(' ')}"/>`
  const frame = `<line class="axis" x1="${LEFT}" x2="${LEFT}" y1="0" y2="${height}"/><line class="axis" x1="${LEFT}" x2="${WIDTH}" y1="${height}" y2="${height}"/><text x="${WIDTH}" y="${height + 16}" text-anchor="end">a run</text><text x="${x(0)}" y="${height + 16}" text-anchor="middle">$0</text><text x="${x(most)}" y="${height + 16}" text-anchor="middle">${money(most)}</text><text x="${LEFT - 8}" y="${y(high) + 4}" text-anchor="end">score ${high}</text><text x="${LEFT - 8}" y="${y(low) + 4}" text-anchor="end">${low}</text>`
  return section(
    'Score against cost',
    `${svg(height + 24, 'Score against cost', frame + line + dots.join(''))}\n<p>On the dashed line are those that none beats at a lower price.</p>`,
  )
}

const MOST_TASKS = 50

/** Compares the first two variants: the baseline and the next. */
function differences({ pairs, by_task, variants }: EvalReport): string {
  const agents = new Set(variants.flatMap(({ name, kind }) => (kind === 'agent' ? name : [])))
  const pair = pairs.find(({ a, b }) => agents.has(a) && agents.has(b)) ?? pairs[0]
  if (pair === undefined) return ''
  const [a, b] = [pair.a, pair.b].map((name) => variants.findIndex((variant) => variant.name === name))
  const rows = by_task
    .flatMap(({ task, means }) => {
      const [first, second] = [means[a ?? 0] ?? null, means[b ?? 0] ?? null]
      return first === null || second === null ? [] : [{ task, difference: second - first }]
    })
    .sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference))
  const shown = rows.slice(0, MOST_TASKS).sort((one, other) => other.difference - one.difference)
  const x = axis([-1, 1, ...shown.map(({ difference }) => difference)])
  const bars = shown.map(({ task, difference }, index) => {
    const y = ROW * index + 4
    const [from, to] = [x(Math.min(0, difference)), x(Math.max(0, difference))]
    return `<g><title>${whole(task)}: ${signed(difference)}</title><text x="0" y="${y + 12}">${short(task)}</text><rect class="${difference < 0 ? 'bad' : 'good'}" x="${from}" y="${y}" width="${at(Math.max(1, to - from))}" height="${ROW - 6}"/></g>`
  })
  const bottom = ROW * shown.length + 8
  return section(
    `Differences by task: ${escaped(pair.b)} minus ${escaped(pair.a)}`,
    `${svg(bottom + 24, 'Differences by task', bars.join('') + scale(x, [-1, -0.5, 0, 0.5, 1], bottom))}${left(rows.length)}`,
  )
}

function left(tasks: number): string {
  return tasks > MOST_TASKS ? `\n<p>The ${MOST_TASKS} of ${tasks} tasks that differ most.</p>` : ''
}

function grid(report: EvalReport): string {
  const names = report.variants.map(({ name }) => name).slice(0, MOST_COLUMNS)
  if (report.by_task.length === 0) return ''
  const spread = (means: readonly (number | null)[]) => {
    const known = means.filter((mean) => mean !== null)
    return Math.max(...known) - Math.min(...known)
  }
  const shown = new Set(
    [...report.by_task].sort((one, other) => spread(other.means) - spread(one.means)).slice(0, MOST_TASKS),
  )
  const head = names.map((name) => `<th title="${whole(name)}">${short(name)}</th>`).join('')
  const rows = report.by_task
    .filter((row) => shown.has(row))
    .map(({ task, means }) => {
      const cells = means.slice(0, names.length).map((mean) => {
        if (mean === null) return '<td>-</td>'
        const shade = Math.round(60 * Math.min(1, Math.max(0, mean)))
        return `<td style="background:rgb(42 111 219/${shade}%)">${mean.toFixed(2)}</td>`
      })
      return `<tr><th title="${whole(task)}">${short(task)}</th>${cells.join('')}</tr>\n`
    })
  return section(
    'Mean score of each task',
    `<div class="wide"><table>\n<tr><th></th>${head}</tr>\n${rows.join('')}</table></div>${left(report.by_task.length)}`,
  )
}

const MOST_COLUMNS = 16
