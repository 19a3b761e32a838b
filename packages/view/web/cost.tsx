import type { CacheTable, CostRows, CostTable } from '../src/api.js'
import { type Address, COST_TABS, type CostTab } from './address.js'
import { Bar, SourceChart } from './charts.js'
import { get } from './client.js'
import { count, duration, money, percent } from './format.js'
import { useLoaded } from './load.js'
import type { OpenRun } from './open-run.js'
import { copy, go } from './state.js'
import { oneLine } from './text/marks.js'
import { Plain } from './text/text.js'
import { inputOf, outputOf, sourceColors, sumOf } from './words.js'

type RunAddress = Extract<Address, { screen: 'run' }>
type Row = CostRows['source'][number]

const NAMES: Record<CostTab, string> = {
  source: 'By source',
  step: 'By step',
  tool: 'By tool',
  model: 'By model',
}

/** What a run cost, broken down as `delta cost` does it, and what kept the provider from using its cache. */
export function CostPanel({ run, at, select }: { run: OpenRun; at: RunAddress; select(n: number): void }) {
  const by = at.by ?? 'source'
  const id = encodeURIComponent(run.key)
  const row = run.row.value
  const wanted = row && `${row.key} ${row.steps} ${row.tokens}`
  const table = useLoaded(wanted && `${by} ${wanted}`, (signal) =>
    get<CostTable>(`/api/cost?ids=${id}&by=${by}`, signal),
  )
  const cache = useLoaded(wanted, (signal) => get<CacheTable>(`/api/cost?ids=${id}&by=cache`, signal))
  const chart = useLoaded(wanted, run.sources)
  const sources = chart.state === 'there' ? chart.value.sources : []
  const hues = sourceColors(sources)
  const colors = new Map(sources.map(({ source }, index) => [source, hues[index] as string]))
  const show = (tab: CostTab) => go({ ...at, by: tab }, { replace: true })
  const isCurrent = table.state === 'there' && table.value.by === by
  return (
    <main class="cost">
      <section>
        <div class="tabs" role="tablist" aria-label="Cost by">
          {COST_TABS.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`tab-${each}`}
              aria-selected={each === by}
              tabIndex={each === by ? 0 : -1}
              onClick={() => show(each)}
              onKeyDown={(event) => {
                const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
                const next =
                  step && COST_TABS[(COST_TABS.indexOf(by) + step + COST_TABS.length) % COST_TABS.length]
                if (!next) return
                show(next)
                requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus())
              }}
            >
              {NAMES[each]}
            </button>
          ))}
        </div>
        {table.state === 'problem' ? (
          <p class="empty bad">{table.problem}</p>
        ) : !isCurrent ? (
          <p class="empty">Adding up …</p>
        ) : (
          <Table table={table.value} by={by} colors={colors} select={select} />
        )}
      </section>
      {by === 'source' && chart.state === 'there' && chart.value.columns.length > 0 && (
        <section class="over-time">
          <h3>Tokens by source, all steps · cumulative cost</h3>
          <SourceChart
            chart={chart.value}
            columns={run.columns.value}
            limit={run.page.value?.limits.cost}
            step={at.step ?? 0}
            select={select}
          />
        </section>
      )}
      <section class="breaks">
        <h3>What the cache did not serve</h3>
        {cache.state === 'problem' && <p class="empty bad">{cache.problem}</p>}
        {cache.state === 'loading' && <p class="empty">Comparing the requests …</p>}
        {cache.state === 'there' && cache.value.rows.length === 0 && (
          <p class="empty">Each request continued the one before it: nothing was paid twice.</p>
        )}
        {cache.state === 'there' && (
          <ol>
            {cache.value.rows.map((miss) => (
              <li key={miss.n}>
                <button type="button" class="link" onClick={() => select(miss.n)}>
                  {miss.n}
                </button>
                <p>
                  <Plain text={miss.message.replace(/^step \d+: /, '')} />
                </p>
              </li>
            ))}
          </ol>
        )}
      </section>
    </main>
  )
}

function Table(properties: {
  table: CostTable
  by: CostTab
  colors: ReadonlyMap<string, string>
  select(n: number): void
}) {
  const { table, by, colors, select } = properties
  const rows = table.rows as Row[]
  const { sum } = table
  const most = Math.max(1e-12, ...rows.map((row) => weight(row)))
  const byCost = sum.cost !== null && sum.cost > 0
  function weight(row: Row): number {
    return sum.cost !== null && sum.cost > 0 ? (row.cost ?? 0) : sumOf(row.tokens) + row.estimated
  }
  if (rows.length === 0) return <p class="empty">Nothing was asked of a model yet, so nothing was paid.</p>
  const name = { source: 'Source', step: 'Step', tool: 'Tool', model: 'Model' }[by]
  return (
    <>
      <table class="sheet">
        <thead>
          <tr>
            <th>{name}</th>
            {by === 'step' && (
              <>
                <th>Model</th>
                <th class="number">Time</th>
              </>
            )}
            {by === 'tool' && <th class="number">Calls</th>}
            {by === 'model' && <th class="number">Requests</th>}
            <th class="number">Input</th>
            <th class="number">Cached</th>
            <th class="number">Output</th>
            <th class="number">Cost</th>
            <th class="number">Share</th>
            <th>
              <span class="hidden">Bar</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const { tokens } = row
            const input = inputOf(tokens)
            const more = row as Partial<
              CostRows['step'][number] & CostRows['tool'][number] & CostRows['model'][number]
            >
            return (
              <tr key={row.key}>
                <th>
                  {by === 'step' ? (
                    <button type="button" class="link" onClick={() => select(Number(more.step))}>
                      {row.key}
                    </button>
                  ) : (
                    oneLine(row.key)
                  )}
                  {more.brokeCache && <span class="bad"> prefix broke</span>}
                </th>
                {by === 'step' && (
                  <>
                    <td class="dim">{oneLine(more.model ?? '')}</td>
                    <td class="number dim">{duration(more.ms)}</td>
                  </>
                )}
                {by === 'tool' && <td class="number">{more.calls ? count(more.calls) : ''}</td>}
                {by === 'model' && <td class="number">{count(more.requests ?? 0)}</td>}
                <td class="number">
                  {row.estimated > 0 ? `~${count(input + row.estimated)}` : input > 0 ? count(input) : ''}
                </td>
                <td class="number dim">{percent(tokens.cache_read, input)}</td>
                <td class="number">{outputOf(tokens) > 0 ? count(outputOf(tokens)) : ''}</td>
                <td class="number">{money(row.cost)}</td>
                <td class="number dim">
                  {byCost
                    ? percent(row.cost ?? 0, sum.cost ?? 0)
                    : percent(weight(row), sumOf(sum.tokens) + sum.estimated)}
                </td>
                <td class="bar-cell">
                  <Bar
                    cached={0}
                    fresh={weight(row)}
                    most={most}
                    color={(by === 'source' && colors.get(row.key)) || 'var(--model)'}
                  />
                </td>
              </tr>
            )
          })}
        </tbody>
        <tfoot>
          <tr>
            <th>Sum</th>
            {by === 'step' && <td colSpan={2} />}
            {(by === 'tool' || by === 'model') && <td />}
            <td class="number">{count(inputOf(sum.tokens) + sum.estimated)}</td>
            <td class="number">{percent(sum.tokens.cache_read, inputOf(sum.tokens))}</td>
            <td class="number">{count(outputOf(sum.tokens))}</td>
            <td class="number">{money(sum.cost)}</td>
            <td class="number" />
            <td />
          </tr>
        </tfoot>
      </table>
      <p class="note">
        {table.priced < 1 ? `${percent(table.priced, 1)} of the tokens have a price. ` : ''}
        {table.prices !== null && `Prices of ${table.prices}. `}
        <button type="button" class="link mono" onClick={() => copy(table.command)}>
          {oneLine(table.command)}
        </button>
      </p>
    </>
  )
}
