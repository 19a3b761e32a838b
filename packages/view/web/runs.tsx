import { computed, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { RunPage, RunRow } from '../src/api.js'
import { type CellHeading, Heading, isCell, isOfEvaluation, shortScore, underHeadings } from './cells.js'
import { get } from './client.js'
import { compileFilter, type Filtered } from './filter.js'
import { ForkSign } from './fork-sign.js'
import { ago, clock, count, percent, plural, runName, shortCount, shortId, shortMoney } from './format.js'
import { type Actions, useActions } from './keys.js'
import { address, areRunsLoaded, copy, go, now, runs, runsProblem } from './state.js'
import { oneLine } from './text/marks.js'
import { type ListHandle, Windowed } from './windowed.js'
import { stateClass, statusClass, statusWord } from './words.js'

/** A line of the table. */
type Line = { kind: 'run'; row: RunRow; depth: number; children: number } | CellHeading

const filter = computed(() => (address.value.screen === 'runs' ? address.value.filter : ''))
const sort = computed(() => (address.value.screen === 'runs' ? address.value.sort : ''))
/** Keys of callers whose sub-agents are shown. */
const unfolded = signal<ReadonlySet<string>>(new Set())
/** At most two, for a comparison. */
export const marked = signal<readonly string[]>([])
const cursor = signal<string>()

const COLUMNS: { id: string; name: string; value(row: RunRow): string | number; isNumber?: true }[] = [
  { id: 'run', name: 'Run', value: (row) => row.startedAt ?? 0 },
  { id: 'agent', name: 'Agent', value: (row) => row.agent ?? '' },
  { id: 'model', name: 'Model', value: (row) => row.models[0] ?? '' },
  { id: 'workspace', name: 'Workspace', value: (row) => row.workspace ?? '' },
  { id: 'task', name: 'Task', value: (row) => row.task ?? '' },
  { id: 'status', name: 'Status', value: statusWord },
  { id: 'score', name: 'Score', value: (row) => row.cell?.score ?? -1, isNumber: true },
  { id: 'state', name: 'State', value: (row) => row.cell?.state ?? '' },
  { id: 'steps', name: 'Steps', value: (row) => row.steps, isNumber: true },
  { id: 'tokens', name: 'Tokens', value: (row) => row.tokens, isNumber: true },
  { id: 'wall', name: 'Wall', value: (row) => row.wallMs, isNumber: true },
  { id: 'cost', name: 'Cost', value: (row) => row.cost ?? -1, isNumber: true },
]

const found = computed(() => {
  const holds = compileFilter(filter.value)
  return filter.value.trim() === '' ? runs.value : runs.value.filter((row) => holds(filtered(row)))
})

const lines = computed<Line[]>(() => {
  const [, id = '', direction] = /^(\w+)(-?)$/.exec(sort.value) ?? []
  const column = COLUMNS.find((each) => each.id === id)
  if (column) {
    const sign = direction === '-' ? -1 : 1
    const sorted = [...found.value].sort(
      (one, other) => sign * compare(column.value(one), column.value(other)),
    )
    return sorted.map((row) => ({ kind: 'run', row, depth: 0, children: 0 }))
  }
  return nested(found.value, { all: runs.value, open: unfolded.value })
})

const hasCells = computed(() => runs.value.some(({ cell }) => cell !== undefined))
/** The directory that all workspaces are in; undefined if there is one workspace. Sub-agents and cells have theirs for themselves. */
const workspaceRoot = computed(() => {
  const own = runs.value.filter(({ caller, cell }) => caller?.key === undefined && cell === undefined)
  const paths = [...new Set(own.flatMap(({ workspace }) => workspace ?? []))]
  return paths.length < 2 ? undefined : commonDirectory(paths)
})
const columns = computed(() =>
  COLUMNS.filter(({ id }) =>
    id === 'score' || id === 'state'
      ? hasCells.value
      : id !== 'workspace' || workspaceRoot.value !== undefined,
  ),
)
const sums = computed(() => {
  const own = found.value.filter((row) => !isBelow(row, found.value))
  const priced = own.reduce((sum, row) => sum + row.priced * row.tokens, 0)
  return {
    cost: own.reduce((sum, row) => sum + (row.cost ?? 0), 0),
    isPriced: own.some(({ cost }) => cost !== null),
    share: percent(
      priced,
      own.reduce((sum, { tokens }) => sum + tokens, 0),
    ),
    running: found.value.filter(({ status }) => status === 'RUNNING').length,
    dearest: Math.max(...found.value.map(({ cost }) => cost ?? 0), 0),
  }
})

/** Callers before their sub-agents, which are folded; the cells of an evaluation together, where its newest one is. */
function nested(
  rows: readonly RunRow[],
  { all, open }: { all: readonly RunRow[]; open: ReadonlySet<string> },
): Line[] {
  const keys = new Set(rows.map(({ key }) => key))
  const below = new Map<string, RunRow[]>()
  for (const row of rows) {
    const caller = row.caller?.key
    if (caller !== undefined && keys.has(caller)) below.set(caller, [...(below.get(caller) ?? []), row])
  }
  const lines: Line[] = []
  const add = (row: RunRow, depth: number) => {
    const children = below.get(row.key) ?? []
    lines.push({ kind: 'run', row, depth, children: children.length })
    if (open.has(row.key) && depth < 20) for (const child of children.toReversed()) add(child, depth + 1)
  }
  const top = rows.filter((row) => row.caller?.key === undefined || !keys.has(row.caller.key))
  const seen = new Set<string>()
  for (const row of top) {
    if (!isCell(row)) add(row, 0)
    else if (!seen.has(row.cell.evaluationKey)) {
      seen.add(row.cell.evaluationKey)
      const isOfSame = isOfEvaluation(row)
      for (const line of underHeadings(top.filter(isOfSame), all.filter(isOfSame)))
        if (line.kind === 'cell') add(line.row, 0)
        else lines.push(line)
    }
  }
  return lines
}

function commonDirectory(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map((path) => path.split('/'))
  let same = 0
  while (same < first.length && others.every((parts) => parts[same] === first[same])) same += 1
  return (first as string[]).slice(0, same).join('/')
}

/** A workspace as it is named below the directory that all are in. */
function shownWorkspace({ workspace }: RunRow): string {
  const root = workspaceRoot.value
  if (workspace === null || root === undefined) return ''
  return workspace.startsWith(`${root}/`) ? workspace.slice(root.length + 1) : workspace
}

function isBelow(row: RunRow, rows: readonly RunRow[]): boolean {
  return row.caller?.key !== undefined && rows.some(({ key }) => key === row.caller?.key)
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : String(one).localeCompare(String(other))
}

function filtered(row: RunRow): Filtered {
  const { cell } = row
  return {
    text: [
      row.id,
      row.agent,
      row.task,
      ...row.models,
      row.reason,
      statusWord(row),
      cell && `${cell.evaluation} ${runName(row)}`,
    ]
      .filter(Boolean)
      .join(' '),
    fields: {
      status: [row.status, statusWord(row)],
      reason: row.reasonCode,
      model: row.models,
      agent: row.agent,
      tool: row.tools,
      cost: row.cost,
      steps: row.steps,
      tokens: row.tokens,
      evaluation: cell?.evaluation,
      workspace: [row.workspace ?? [], shownWorkspace(row)].flat(),
      variant: cell?.variant,
      task: cell?.task,
      state: cell?.state,
      score: cell?.score,
    },
  }
}

function setFilter(text: string): void {
  go({ screen: 'runs', filter: text, sort: sort.value }, { replace: true })
}

function sortBy(id: string): void {
  const descending = COLUMNS.find((each) => each.id === id)?.isNumber || id === 'run'
  const [first, second] = descending ? [`${id}-`, id] : [id, `${id}-`]
  const next = sort.value === first ? second : sort.value === second ? '' : first
  go({ screen: 'runs', filter: filter.value, sort: next }, { replace: true })
}

function open(row: RunRow): void {
  go({ screen: 'run', key: row.key, tab: 'context' })
}

/** By its directory: an id is known only in its own workspace. */
async function copyCommand({ key }: RunRow): Promise<void> {
  const { commands } = await get<RunPage>(`/api/runs/${encodeURIComponent(key)}`)
  await copy(`delta show ${commands.argument}`)
}

function toggleMark(key: string): void {
  const others = marked.value.filter((each) => each !== key)
  marked.value = others.length < marked.value.length ? others : [...others.slice(-1), key]
}

function toggleFold(key: string): void {
  const next = new Set(unfolded.value)
  if (!next.delete(key)) next.add(key)
  unfolded.value = next
}

export function Runs() {
  const list = useRef<ListHandle>(null)
  const box = useRef<HTMLInputElement>(null)
  const rows = lines.value
  const at = rows.findIndex((line) => line.kind === 'run' && line.row.key === cursor.value)
  const current = rows[at]

  function move(by: number): void {
    let next = at === -1 ? (by > 0 ? 0 : rows.length - 1) : at + by
    while ((rows[next]?.kind ?? 'run') !== 'run') next += by
    const line = rows[next]
    if (line?.kind !== 'run') return
    cursor.value = line.row.key
    list.current?.show(next)
  }

  const actions: Actions = {
    next: () => move(1),
    previous: () => move(-1),
    nextFailure: () => move(distanceToFailure(rows, at, 1)),
    previousFailure: () => move(distanceToFailure(rows, at, -1)),
    last: () => move(rows.length - 1 - Math.max(at, 0) || 0),
    open: () => current?.kind === 'run' && open(current.row),
    search: () => box.current?.focus(),
    mark: () => current?.kind === 'run' && toggleMark(current.row.key),
    compare: compareMarked,
    fold: () => current?.kind === 'run' && current.children > 0 && toggleFold(current.row.key),
    copy: () => current?.kind === 'run' && copyCommand(current.row),
    cost: () =>
      current?.kind === 'run' && go({ screen: 'run', key: current.row.key, tab: 'context', view: 'cost' }),
    back: () => filter.value !== '' && setFilter(''),
  }
  useActions(actions)
  useEffect(() => {
    document.title = 'delta: runs'
  }, [])

  const { cost, share, running, isPriced, dearest } = sums.value
  return (
    <div
      class={`screen runs ${hasCells.value ? 'with-cells' : ''} ${workspaceRoot.value === undefined ? '' : 'with-workspaces'}`}
    >
      <header class="bar">
        <h1>delta</h1>
        <label class="filter">
          <span class="hidden">Filter runs</span>
          <kbd aria-hidden="true">/</kbd>
          <input
            ref={box}
            type="search"
            value={filter.value}
            placeholder={
              hasCells.value
                ? 'words, score:<1  state:scored  variant:luna  task:calc'
                : 'words, status:failed  model:gpt*  cost:>0.1  tool:bash'
            }
            spellcheck={false}
            autocomplete="off"
            onInput={(event) => setFilter(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape' && event.key !== 'Enter' && event.key !== 'ArrowDown') return
              event.preventDefault()
              event.stopPropagation()
              if (event.key === 'Escape') setFilter('')
              event.currentTarget.blur()
              if (event.key !== 'Escape') move(at === -1 ? 1 : 0)
            }}
          />
        </label>
        <p class="sums">
          <span>
            {filter.value.trim() !== '' && `${count(found.value.length)} of `}
            {plural(runs.value.length, 'run')}
          </span>
          {isPriced && (
            <span>
              {shortMoney(cost)} <span class="dim">priced {share}</span>
            </span>
          )}
          {running > 0 && (
            <span>
              <i class="dot" /> {running} running
            </span>
          )}
        </p>
      </header>
      <div class="table" role="presentation">
        <div class="row head" role="row" aria-rowindex={1}>
          <span role="columnheader" class="c-mark">
            <span class="hidden">Marked</span>
          </span>
          {columns.value.map(({ id, name, isNumber }) => (
            <span
              key={id}
              role="columnheader"
              class={`c-${id} ${isNumber ? 'number' : ''}`}
              aria-sort={sort.value === id ? 'ascending' : sort.value === `${id}-` ? 'descending' : 'none'}
            >
              <button type="button" class="label" onClick={() => sortBy(id)}>
                {name}
                {sort.value === id && ' ↑'}
                {sort.value === `${id}-` && ' ↓'}
              </button>
            </span>
          ))}
          <span role="columnheader" class="c-share label">
            <span class="hidden">Share of the dearest</span>
          </span>
        </div>
        {rows.length === 0 ? (
          <Empty />
        ) : (
          <Windowed
            handle={list}
            count={rows.length}
            guess={28}
            role="grid"
            headRows={1}
            label="Runs, newest first"
            row={(index) => {
              const line = rows[index]
              return line && <TableLine line={line} index={index} dearest={dearest} />
            }}
          />
        )}
      </div>
      {marked.value.length > 0 && (
        <p class="foot" role="status">
          {marked.value.length === 1 ? (
            <>
              <b>A</b> {nameOf(marked.value[0] as string)} is marked. Mark a second run with <kbd>x</kbd>.
            </>
          ) : (
            <>
              <b>A</b> {nameOf(marked.value[0] as string)} and <b>B</b> {nameOf(marked.value[1] as string)}{' '}
              are marked.{' '}
              <button type="button" class="link" onClick={compareMarked}>
                Compare
              </button>{' '}
              <kbd>d</kbd>
            </>
          )}
        </p>
      )}
    </div>
  )
}

function compareMarked(): void {
  const [a, b] = marked.value
  if (a !== undefined && b !== undefined) go({ screen: 'diff', a, b })
}

function nameOf(key: string): string {
  const row = runs.value.find((each) => each.key === key)
  return oneLine(row ? runName(row) : key)
}

function distanceToFailure(rows: readonly Line[], at: number, direction: 1 | -1): number {
  for (let index = at + direction; index >= 0 && index < rows.length; index += direction) {
    const line = rows[index]
    if (line?.kind === 'run' && statusClass(line.row.status) === 'bad') return index - at
  }
  return 0
}

function Empty() {
  if (runsProblem.value !== null) return <p class="empty bad">{runsProblem.value}</p>
  if (!areRunsLoaded.value) return <p class="empty">Reading the runs …</p>
  if (runs.value.length === 0)
    return (
      <p class="empty">
        No runs here yet. Make one: <code>delta run --agent DIR -m "…"</code>. It appears by itself.
      </p>
    )
  return (
    <p class="empty">
      No run fits this filter.{' '}
      <button type="button" class="link" onClick={() => setFilter('')}>
        Show all {count(runs.value.length)}
      </button>
    </p>
  )
}

function TableLine({ line, index, dearest }: { line: Line; index: number; dearest: number }) {
  if (line.kind !== 'run') return <Heading line={line} index={index} />
  const { row, depth, children } = line
  const isCurrent = cursor.value === row.key
  const mark = marked.value.indexOf(row.key)
  const [model, ...others] = row.models
  const isOver = row.status === 'GONE'
  const isGrouped = isCell(row) && sort.value === '' // then its heading has said the task
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys work on the whole page; the link in the row is what Tab reaches
    <div
      class={`row ${isCurrent ? 'selected' : ''} ${isOver ? 'gone' : ''} ${isGrouped ? 'cell' : ''}`}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isCurrent}
      onClick={(event) => {
        cursor.value = row.key
        if (!(event.target as HTMLElement).closest('button, a')) open(row)
      }}
    >
      <span class="c-mark" role="gridcell">
        {mark !== -1 ? <b>{'AB'[mark]}</b> : row.status === 'RUNNING' ? <i class="dot" /> : null}
      </span>
      <span class="c-run" role="gridcell">
        {depth > 0 && <span class="dim indent">{'  '.repeat(depth - 1)}└ </span>}
        {children > 0 && (
          <button
            type="button"
            class="fold"
            aria-expanded={unfolded.value.has(row.key)}
            aria-label={`${plural(children, 'sub-agent')} of ${shortId(row.id)}`}
            onClick={() => toggleFold(row.key)}
          >
            {unfolded.value.has(row.key) ? '▾' : '▸'}
          </button>
        )}
        <a class="mono" href={`#/run/${encodeURIComponent(row.key)}`} title={oneLine(row.id)}>
          {isGrouped ? `repeat ${row.cell.repeat}` : oneLine(runName(row))}
        </a>
        {row.forkOf && (
          <span class="dim" title={`A fork of ${oneLine(row.forkOf.id)} after step ${row.forkOf.step}`}>
            <ForkSign />
            {row.forkOf.step}
          </span>
        )}
        <span class="dim age">{row.startedAt !== null && ago(row.startedAt, now.value)}</span>
      </span>
      <span class="c-agent" role="gridcell">
        {oneLine(row.agent ?? '')}
      </span>
      <span class="c-model dim" role="gridcell" title={row.models.map(oneLine).join(', ')}>
        <span class="cut">{oneLine(model ?? '')}</span>
        {others.length > 0 && <span> +{others.length}</span>}
      </span>
      {workspaceRoot.value !== undefined && (
        <span class="c-workspace dim" role="gridcell" title={oneLine(row.workspace ?? '')}>
          {oneLine(shownWorkspace(row))}
        </span>
      )}
      <span class="c-task" role="gridcell" title={oneLine(row.task ?? '')}>
        {row.problem ? (
          <span class="bad">{oneLine(row.problem)}</span>
        ) : (
          !isGrouped && <bdi>{oneLine(row.task ?? '')}</bdi>
        )}
      </span>
      <span
        class={`c-status ${statusClass(row.status)}`}
        role="gridcell"
        title={oneLine(row.reason ?? statusWord(row))}
      >
        {oneLine(statusWord(row))}
      </span>
      {hasCells.value && (
        <>
          <span class="c-score number" role="gridcell">
            {row.cell && row.cell.score !== null && shortScore(row.cell.score)}
          </span>
          <span
            class={`c-state ${stateClass(row.cell?.state)}`}
            role="gridcell"
            title={oneLine(row.cell?.state ?? '')}
          >
            {oneLine(row.cell?.state ?? '')}
          </span>
        </>
      )}
      <span class="c-steps number" role="gridcell">
        {row.steps || ''}
      </span>
      <span class="c-tokens number" role="gridcell">
        {row.tokens > 0 && `${row.isEstimated ? '~' : ''}${shortCount(row.tokens)}`}
      </span>
      <span class="c-wall number dim" role="gridcell">
        {row.wallMs > 0 && clock(row.status === 'RUNNING' ? wallOf(row) : row.wallMs)}
      </span>
      <span class="c-cost number" role="gridcell">
        {row.tokens > 0 || row.cost !== null ? shortMoney(row.cost) : ''}
      </span>
      <span class="c-share" role="presentation">
        {row.cost !== null && row.cost > 0 && dearest > 0 && (
          <i style={{ width: `${(row.cost / dearest) * 100}%` }} />
        )}
      </span>
    </div>
  )
}

/** A running run's clock goes on between the answers of the server. */
export function wallOf(row: RunRow): number {
  if (row.status !== 'RUNNING' || row.updatedAt === null) return row.wallMs
  return row.wallMs + Math.max(0, now.value - row.updatedAt)
}
