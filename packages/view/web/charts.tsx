import { useEffect, useRef, useState } from 'preact/hooks'
import type { Column, SourceColumn, SourceChart as Sources } from '../src/api.js'
import { count, money, shortCount, shortMoney } from './format.js'
import { oneLine } from './text/marks.js'
import { sourceColors } from './words.js'

const HEIGHT = 132
const TOP = 12
const BOTTOM = 16

/** The width of an element, which charts are drawn for: lines and hatches stay as thin as they should be. */
function useWidth(): [{ current: HTMLDivElement | null }, number] {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(528)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)))
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return [box, width]
}

/**
 * Tokens of each request by source, and above them what the run had cost until then. Hatched: read from the cache. A red tick: the
 * cached prefix broke there.
 */
export function SourceChart(properties: {
  chart: Sources
  columns: readonly Column[]
  limit: number | undefined
  step: number
  select(n: number): void
}) {
  const { chart, columns, limit, step, select } = properties
  const [box, width] = useWidth()
  const colors = sourceColors(chart.sources)
  const requests = chart.columns
  const most = Math.max(1, ...requests.map(totalOf))
  const left = 40
  const right = 52
  const across = Math.max(1, width - left - right)
  const each = Math.min(36, across / Math.max(1, requests.length))
  const gap = each > 6 ? 1 : 0
  const high = HEIGHT - TOP - BOTTOM
  const y = (tokens: number) => TOP + high - (tokens / most) * high
  const x = (index: number) => left + index * each

  const parts = colors.map(() => '')
  let hatch = ''
  for (const [index, column] of requests.entries()) {
    let below = 0
    for (const [at, [cached, fresh]] of column.tokens.entries()) {
      const [bottom, edge, top] = [y(below), y(below + cached), y(below + cached + fresh)]
      if (bottom - top > 0.05)
        parts[at] += rectangle(x(index), top, each - gap, bottom - top - (bottom - top > 3 ? 0.5 : 0))
      if (bottom - edge > 1 && each > 2) hatch += diagonals(x(index), edge, each - gap, bottom - edge)
      below += cached + fresh
    }
  }
  const spent = cumulative(columns, requests)
  const dearest = Math.max(spent.at(-1) ?? 0, limit ?? 0) || 1
  const yMoney = (dollars: number) => TOP + high - (dollars / dearest) * high
  const isPriced = (spent.at(-1) ?? 0) > 0
  const isCached = requests.some(({ tokens }) => tokens.some(([cached]) => cached > 0))
  const selected = requests.findIndex(({ n }) => n === step)
  return (
    <div class="chart" ref={box}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the table below it has the same, and j and k move the step */}
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label="Tokens by source and step, and cumulative cost"
        onClick={(event) => {
          const { left: edge } = event.currentTarget.getBoundingClientRect()
          const hit = requests[Math.floor((event.clientX - edge - left) / each)]
          if (hit) select(hit.n)
        }}
      >
        {[most, most / 2].map((tokens) => (
          <g key={tokens}>
            <path class="grid" d={`M${left} ${Math.round(y(tokens)) + 0.5}H${left + across}`} />
            <text x={left - 8} y={y(tokens) + 4} text-anchor="end">
              {shortCount(tokens)}
            </text>
          </g>
        ))}
        {selected !== -1 && (
          <rect class="at" x={x(selected)} y={TOP - 4} width={each - gap} height={high + 8} />
        )}
        {parts.map((path, index) => (
          <path key={index} d={path} style={{ fill: colors[index] }} />
        ))}
        <path class="hatch" d={hatch} />
        {requests.map(
          ({ n, isBroken }, index) =>
            isBroken && (
              <rect
                key={n}
                class="broken"
                x={x(index) - (gap ? 1 : 0)}
                y={TOP - 6}
                width={2}
                height={high + 6}
              />
            ),
        )}
        {isPriced && (
          <>
            <path
              class="money"
              d={`M${spent.map((dollars, index) => `${x(index) + each / 2} ${yMoney(dollars)}`).join('L')}`}
            />
            <text x={left + across + 8} y={yMoney(spent.at(-1) ?? 0) + 4}>
              {shortMoney(spent.at(-1))}
            </text>
          </>
        )}
        {limit !== undefined && isPriced && (
          <>
            <path class="limit" d={`M${left} ${yMoney(limit) + 0.5}H${left + across}`} />
            <text x={left + across + 8} y={yMoney(limit) + 4}>
              {shortMoney(limit)}
            </text>
          </>
        )}
        {ticksOf(requests, each).map((index) => (
          <text key={index} x={x(index) + (each - gap) / 2} y={HEIGHT - 2} text-anchor="middle">
            {requests[index]?.n}
          </text>
        ))}
      </svg>
      <p class="legend">
        {chart.sources.map(({ source }, index) => (
          <span key={source}>
            <i style={{ background: colors[index] }} /> {oneLine(source)}
          </span>
        ))}
        {isCached && (
          <span>
            <i class="cached" /> from the cache
          </span>
        )}
        {requests.some(({ isBroken }) => isBroken) && (
          <span>
            <i class="tick" /> the cached prefix broke
          </span>
        )}
        {isPriced && (
          <span>
            <i class="line" /> cost so far
          </span>
        )}
      </p>
      {chart.every > 1 && <p class="note">Every {chart.every}th request is drawn.</p>}
      <div class="hidden">
        <table>
          <caption>Tokens by source and step</caption>
          <thead>
            <tr>
              <th>Step</th>
              {chart.sources.map(({ source }) => (
                <th key={source}>{oneLine(source)}</th>
              ))}
              <th>Cost so far</th>
              <th>Cached prefix</th>
            </tr>
          </thead>
          <tbody>
            {requests.map((column, index) => (
              <tr key={column.n}>
                <th>{column.n}</th>
                {column.tokens.map(([cached, fresh], at) => (
                  <td key={at}>
                    {count(cached + fresh)}, {count(cached)} cached
                  </td>
                ))}
                <td>{isPriced ? money(spent[index]) : '-'}</td>
                <td>{column.isBroken ? 'broke' : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function totalOf({ tokens }: SourceColumn): number {
  return tokens.reduce((sum, [cached, fresh]) => sum + cached + fresh, 0)
}

/** What the run had cost after each of these requests. */
function cumulative(columns: readonly Column[], requests: readonly SourceColumn[]): number[] {
  let sum = 0
  let next = 0
  return requests.map(({ n }) => {
    for (; next < columns.length && (columns[next] as Column).to <= n; next++) sum += columns[next]?.cost ?? 0
    return sum
  })
}

function rectangle(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`
}

/** Lines at 45°, 5 px apart, cut off at the edges of a rectangle: what a pattern would draw, without a reference to one. */
function diagonals(left: number, top: number, width: number, height: number): string {
  let path = ''
  const [right, bottom] = [left + width, top + height]
  for (let sum = Math.ceil((left + top) / 5) * 5; sum < right + bottom; sum += 5) {
    const fromX = Math.max(left, sum - bottom)
    const toX = Math.min(right, sum - top)
    if (toX > fromX) path += `M${round(fromX)} ${round(sum - fromX)}L${round(toX)} ${round(sum - toX)}`
  }
  return path
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}

/** Which columns have their number below them: as many as fit. */
function ticksOf(requests: readonly SourceColumn[], each: number): number[] {
  const apart = Math.max(1, Math.ceil(28 / each))
  return requests.flatMap((_, index) => (index % apart === 0 ? [index] : []))
}

/** Amounts side by side as bars of one scale: hatched is what came from the cache. */
export function Bar({
  cached,
  fresh,
  most,
  color,
}: {
  cached: number
  fresh: number
  most: number
  color: string
}) {
  const percent = (amount: number) => `${most === 0 ? 0 : (amount / most) * 100}%`
  return (
    <span class="amount">
      {cached > 0 && <i class="cached" style={{ width: percent(cached), backgroundColor: color }} />}
      {fresh > 0 && <i style={{ width: percent(fresh), backgroundColor: color }} />}
    </span>
  )
}
