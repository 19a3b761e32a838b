import { useMemo } from 'preact/hooks'
import type { Column } from '../src/api.js'
import { clock, duration } from './format.js'
import { isWide } from './state.js'

/** What a piece of the strip stands for. */
type Kind = 'model' | 'tool' | 'waiting' | 'pause'

interface Piece {
  kind: Kind
  step: number
  ms: number
  /** Percent of the strip. */
  left: number
  width: number
  isFailed: boolean
}

const KINDS: readonly Kind[] = ['pause', 'model', 'tool', 'waiting']
/** What a single pause or wait takes at most, as a share of the time in which something ran: a night would hide the work. */
const MOST = { pause: 0.04, waiting: 0.12 }
/** Finer than this nothing can be seen or clicked. */
const PIECES = 700

/** Where the time of a run went, from left to right. Its numbers are steps. */
export function Strip({
  columns,
  step,
  go,
}: {
  columns: readonly Column[]
  step: number | undefined
  go(step: number): void
}) {
  const pieces = useMemo(() => layOut(columns), [columns])
  const table = useMemo(() => tableOf(columns), [columns])
  const bars = useMemo(() => pieces.map(barOf), [pieces])
  const last = columns.at(-1)?.to ?? 1
  const current = step ?? last
  const at = pieces.filter((piece) => piece.step <= current)
  const here = at.filter((piece) => piece.step === at.at(-1)?.step)
  const left = here[0]?.left ?? 0
  const right = here.reduce((edge, piece) => Math.max(edge, piece.left + piece.width), 0)
  return (
    <section class="strip" aria-label="Time">
      <div
        class="track"
        role="slider"
        tabIndex={0}
        aria-label="Step, by time"
        aria-valuemin={columns[0]?.from ?? 1}
        aria-valuemax={last}
        aria-valuenow={current}
        aria-valuetext={`Step ${current}`}
        onKeyDown={(event) => {
          const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key]
          const wanted = event.key === 'Home' ? 1 : event.key === 'End' ? last : by && current + by
          if (wanted === undefined) return
          event.preventDefault()
          go(Math.min(last, Math.max(1, wanted)))
        }}
        onClick={(event) => {
          const { left: edge, width } = event.currentTarget.getBoundingClientRect()
          const place = ((event.clientX - edge) / width) * 100
          const hit = pieces.findLast((piece) => piece.left <= place) ?? pieces[0]
          if (hit) go(hit.step)
        }}
      >
        {bars}
        {right > 0 && <b class="here" style={{ left: `${left}%`, width: `${right - left}%` }} />}
      </div>
      <div class="scale" aria-hidden="true">
        {numbersOf(pieces, current, isWide.value ? 2.5 : 8).map(({ step: n, left: place }) => (
          <span
            key={n}
            style={place > 96 ? { right: 0 } : { left: `${place}%` }}
            class={n === current ? 'current' : ''}
          >
            {n}
          </span>
        ))}
      </div>
      {table}
    </section>
  )
}

function barOf(piece: Piece, index: number) {
  return (
    <i
      key={index}
      class={`${piece.kind} ${piece.isFailed && piece.kind === 'tool' ? 'failed' : ''}`}
      style={{ left: `${piece.left}%`, width: `${piece.width}%` }}
      title={titleOf(piece)}
    />
  )
}

/** The same for those who cannot see it. */
function tableOf(columns: readonly Column[]) {
  return (
    <div class="hidden">
      <table>
        <caption>Time by step</caption>
        <thead>
          <tr>
            <th>Steps</th>
            <th>Model</th>
            <th>Tools</th>
            <th>Waiting</th>
            <th>No engine</th>
            <th>Failed</th>
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <tr key={column.from}>
              <th>{column.from === column.to ? column.from : `${column.from} to ${column.to}`}</th>
              <td>{duration(column.modelMs)}</td>
              <td>{duration(column.toolMs)}</td>
              <td>{duration(column.waitingMs)}</td>
              <td>{duration(column.pauseMs)}</td>
              <td>{column.isFailed ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** What the tones of the strip mean; only those that it has. */
export function Legend({ columns }: { columns: readonly Column[] }) {
  const has = (key: 'waitingMs' | 'pauseMs') => columns.some((column) => column[key] > 0)
  return (
    <p class="legend" aria-hidden="true">
      <span>
        <i class="model" /> model
      </span>
      <span>
        <i class="tool" /> tool
      </span>
      {columns.some(({ isFailed }) => isFailed) && (
        <span>
          <i class="failed" /> failed
        </span>
      )}
      {has('waitingMs') && (
        <span>
          <i class="waiting" /> waiting
        </span>
      )}
      {has('pauseMs') && (
        <span>
          <i class="pause" /> no engine
        </span>
      )}
    </p>
  )
}

function titleOf({ kind, step, ms, isFailed }: Piece): string {
  const word = { model: 'model', tool: 'tools', waiting: 'waiting for a person', pause: 'no engine' }[kind]
  return `step ${step}: ${word} ${kind === 'pause' || kind === 'waiting' ? clock(ms) : duration(ms)}${isFailed ? ', failed' : ''}`
}

function layOut(columns: readonly Column[]): Piece[] {
  const active = columns.reduce((sum, { modelMs, toolMs }) => sum + modelMs + toolMs, 0) || 1
  const shown = (kind: Kind, ms: number) =>
    kind === 'pause' || kind === 'waiting' ? Math.min(ms, active * MOST[kind]) : ms
  const times = ({ modelMs, toolMs, waitingMs, pauseMs }: Column) => ({
    model: modelMs,
    tool: toolMs,
    waiting: waitingMs,
    pause: pauseMs,
  })
  let total = 0
  for (const column of columns) for (const kind of KINDS) total += shown(kind, times(column)[kind])
  const pieces: Piece[] = []
  let left = 0
  let held: Piece[] = []
  for (const column of columns) {
    for (const kind of KINDS) {
      const ms = times(column)[kind]
      const width = (shown(kind, ms) / (total || 1)) * 100
      const same = held.find((piece) => piece.kind === kind)
      if (ms <= 0) continue
      if (same)
        Object.assign(same, {
          ms: same.ms + ms,
          width: same.width + width,
          isFailed: same.isFailed || column.isFailed,
        })
      else held.push({ kind, step: column.from, ms, left: 0, width, isFailed: column.isFailed })
    }
    const width = held.reduce((sum, piece) => sum + piece.width, 0)
    if (width < 100 / PIECES && column !== columns.at(-1)) continue
    for (const piece of held) {
      pieces.push({ ...piece, left })
      left += piece.width
    }
    held = []
  }
  return pieces
}

/** As many numbers as fit, the current one among them. `apart`: percent of the strip. */
function numbersOf(pieces: readonly Piece[], current: number, apart: number): Piece[] {
  const here = pieces.findLast((piece) => piece.step <= current)
  const first = pieces.find((piece) => piece.step === here?.step && piece.kind !== 'pause')
  const numbers = first ? [{ ...first, step: current }] : []
  const last = pieces.find(({ step, kind }) => step === pieces.at(-1)?.step && kind !== 'pause')
  const kept = [first, last].flatMap((piece) => (piece === undefined ? [] : [piece.left]))
  let edge = Number.NEGATIVE_INFINITY
  for (const piece of pieces) {
    const isFree =
      piece.left - edge >= apart &&
      kept.every((left) => left === piece.left || Math.abs(piece.left - left) >= apart)
    if (piece.kind === 'pause' || !isFree || piece.step === numbers.at(-1)?.step || piece.step === current)
      continue
    numbers.push(piece)
    edge = piece.left
  }
  return numbers
}
