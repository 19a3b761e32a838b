import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Block, CallCard, ChangedFile, StepCard, StepChanges, WholeStep } from '../src/api.js'
import { TABS, type Tab } from './address.js'
import { Bar, SourceChart } from './charts.js'
import { get, getText } from './client.js'
import { file } from './file.js'
import { bytes, count, duration, money, percent, plural } from './format.js'
import { type Loaded, useLoaded } from './load.js'
import type { OpenRun } from './open-run.js'
import { Arguments } from './step.js'
import { oneLine } from './text/marks.js'
import { Diff, JsonTree, Plain, Terminal } from './text/text.js'
import { diffLines, parseUnifiedDiff } from './text/unified-diff.js'
import { inputOf, outputOf, sourceColors } from './words.js'

const NAMES: Record<Tab, string> = {
  context: 'Context',
  request: 'Request',
  response: 'Response',
  files: 'Files',
  output: 'Output',
  journal: 'Journal',
}

interface Properties {
  run: OpenRun
  n: number
  card: StepCard | null | undefined
  tab: Tab
  call: string | undefined
  show(change: { tab?: Tab; call?: string }): void
  select(n: number): void
}

/** What there is to know about a step. */
export function Inspector(properties: Properties) {
  const { run, n, card, tab, show } = properties
  const steps = `/api/runs/${encodeURIComponent(run.key)}/steps`
  // a card that grew is another object: then the step is read again
  const version = useSignal(0)
  const seen = useSignal<StepCard | null | undefined>(undefined)
  const before = seen.peek()
  if (before !== card) {
    seen.value = card
    if (before && card && before.n === card.n) version.value += 1
  }
  const whole = useLoaded(`${steps}/${n}#${version.value}`, (signal) =>
    get<WholeStep>(`${steps}/${n}`, signal),
  )
  const isCurrent = whole.state === 'there' && whole.value.card.n === n
  const tabs = TABS.filter((each) => each !== 'files' || card?.snapshot || tab === 'files')
  const isFilesWanted = card?.snapshot?.isChanged || tab === 'files'
  const changes = useLoaded(isFilesWanted ? `${steps}/${n} ${version.value}` : undefined, async (signal) => ({
    n,
    ...(await get<StepChanges>(`${steps}/${n}/changes`, signal)),
  }))
  const changed = changes.state === 'there' && changes.value.n === n ? changes.value.files?.length : undefined
  return (
    <aside class="inspector" aria-label={`Step ${n}`}>
      <div class="tabs" role="tablist" aria-label="About this step">
        {tabs.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls="tab-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => show({ tab: each })}
            onKeyDown={(event) => {
              const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
              const next = by && tabs[(tabs.indexOf(tab) + by + tabs.length) % tabs.length]
              if (!next) return
              show({ tab: next })
              requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus())
            }}
          >
            {NAMES[each]}
            {each === 'files' && changed ? ` ${changed}` : ''}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={-1}>
        <Headline n={n} card={card} />
        {whole.state === 'problem' ? (
          <p class="empty bad">{whole.problem}</p>
        ) : whole.state === 'loading' ? (
          <p class="empty">Reading …</p>
        ) : (
          // the step before stays until this one is there, so nothing flickers
          <div class={isCurrent ? '' : 'stale'}>
            <Panel
              {...properties}
              n={whole.value.card.n}
              base={`${steps}/${whole.value.card.n}`}
              whole={whole.value}
              version={version.value}
              changes={changes}
            />
          </div>
        )}
      </div>
    </aside>
  )
}

function Headline({ n, card }: { n: number; card: StepCard | null | undefined }) {
  const request = card?.request
  const facts: string[] = []
  if (request?.tokens) {
    const input = inputOf(request.tokens)
    facts.push(`${count(input)} in`, `${percent(request.tokens.cache_read, input) || '0 %'} cached`)
    facts.push(`${count(outputOf(request.tokens))} out`)
  } else if (request) facts.push(`~${count(request.estimate)} in`)
  if (card?.inherited) facts.push('inherited')
  else if (card?.replayed) facts.push('replayed')
  else if (request && request.cost !== null) facts.push(money(request.cost))
  if (card && card.modelMs !== null) facts.push(duration(card.modelMs))
  if (request?.finishReason && !/^(stop|tool_calls|tool_use|end_turn|completed)$/.test(request.finishReason))
    facts.push(oneLine(request.finishReason))
  return (
    <h2>
      Step {n} <span class="dim">{facts.join(' · ')}</span>
    </h2>
  )
}

type PanelProperties = Properties & {
  base: string
  whole: WholeStep
  version: number
  changes: Loaded<StepChanges>
}

function Panel(properties: PanelProperties) {
  switch (properties.tab) {
    case 'context':
      return <Context {...properties} />
    case 'request':
      return <Request {...properties} />
    case 'response':
      return <Response {...properties} />
    case 'files':
      return <Files {...properties} />
    case 'output':
      return <Output {...properties} />
    case 'journal':
      return <Journal {...properties} />
    default:
      return properties.tab satisfies never
  }
}

function Context({ run, n, whole, base, select }: PanelProperties) {
  const open = useSignal<number | undefined>(undefined)
  const { columns, page } = { columns: run.columns.value, page: run.page.value }
  // the chart reads a file for each request: again only when the run has grown by a step
  const chart = useLoaded(`${run.key} ${run.count.value}`, run.sources)
  const blocks = whole.request?.blocks ?? []
  const colors = sourceColors(blocks)
  const total = blocks.reduce((sum, block) => sum + sizeOf(block), 0)
  const most = Math.max(1, ...blocks.map(sizeOf))
  return (
    <>
      {blocks.length === 0 ? (
        <p class="empty">
          {whole.card.request
            ? 'What this request was made of is not recorded.'
            : 'No request was sent in this step.'}
        </p>
      ) : (
        <>
          {whole.request?.rewrittenBy && (
            <p class="note">Rewritten by {oneLine(whole.request.rewrittenBy)}: this is what it was before.</p>
          )}
          <div class="whole-bar" aria-hidden="true">
            {blocks.map((block, index) => {
              const cached = (block.read / total) * 100
              const fresh = ((sizeOf(block) - block.read) / total) * 100
              return (
                <button
                  type="button"
                  key={block.index}
                  tabIndex={-1}
                  title={`${oneLine(block.source)} ${count(sizeOf(block))}`}
                  style={{ flexGrow: cached + fresh }}
                  onClick={() => (open.value = open.value === block.index ? undefined : block.index)}
                >
                  {cached > 0 && (
                    <i class="cached" style={{ flexGrow: cached, backgroundColor: colors[index] }} />
                  )}
                  {fresh > 0 && <i style={{ flexGrow: fresh, backgroundColor: colors[index] }} />}
                </button>
              )
            })}
          </div>
          <ul class="blocks" aria-label="Sources of this request">
            {blocks.map((block, index) => (
              <li key={block.index}>
                <button
                  type="button"
                  class="block"
                  aria-expanded={open.value === block.index}
                  onClick={() => (open.value = open.value === block.index ? undefined : block.index)}
                >
                  <span class="cut">{oneLine(block.source)}</span>
                  <span class="number">{count(sizeOf(block))}</span>
                  <Bar
                    cached={block.read}
                    fresh={sizeOf(block) - block.read}
                    most={most}
                    color={colors[index] ?? ''}
                  />
                  <span class="fate">{fateOf(block)}</span>
                </button>
                {block.by.length > 1 && <p class="of-it">{partsOf(block)}</p>}
                {open.value === block.index && <BlockText base={base} block={block} n={n} />}
              </li>
            ))}
            {whole.request?.removed.map(({ source, tokens }) => (
              <li key={source} class="note">
                {oneLine(source)} is gone: {count(tokens)} tokens in the request before
              </li>
            ))}
          </ul>
        </>
      )}
      {whole.request?.cacheBreak && (
        <p class="note">
          <span class="bad">
            <Plain text={whole.request.cacheBreak.message} />.
          </span>{' '}
          {whole.request.cacheBreak.advice}
        </p>
      )}
      <h3>Tokens by source, all steps · cumulative cost</h3>
      {chart.state === 'there' && chart.value.columns.length > 0 ? (
        <SourceChart
          chart={chart.value}
          columns={columns}
          limit={page?.limits.cost}
          step={n}
          select={select}
        />
      ) : (
        <p class="empty">
          {chart.state === 'loading'
            ? 'Reading the requests …'
            : chart.state === 'problem'
              ? chart.problem
              : 'No request is recorded.'}
        </p>
      )}
    </>
  )
}

const MOST_PARTS = 6

/** What a conversation is made of, by tool: the largest by name, the others in one sum. */
function partsOf({ by }: Block): string {
  const tools = by.filter(({ tool, tokens }) => tool !== null && tokens > 0)
  const others = tools.slice(MOST_PARTS)
  const sum = others.reduce((total, { tokens }) => total + tokens, 0)
  return [
    ...tools.slice(0, MOST_PARTS).map(({ tool, tokens }) => `${oneLine(tool ?? '')} ${count(tokens)}`),
    ...(others.length > 0 ? [`${plural(others.length, 'other tool')} ${count(sum)}`] : []),
    ...by.flatMap(({ tool, tokens }) => (tool === null ? [`model and messages ${count(tokens)}`] : [])),
  ].join(' · ')
}

function sizeOf({ read, written, new: fresh, estimate }: Block): number {
  return read + written + fresh || estimate
}

/** What became of a source in the provider's cache. */
function fateOf(block: Block) {
  const { read, written, new: fresh, breaksAt } = block
  if (breaksAt !== undefined) return <span class="bad">broke at byte {count(breaksAt)}</span>
  if (read > 0 && written + fresh === 0) return 'cached'
  if (read > 0) return `new ${count(written + fresh)}`
  return block.change === 'changed' ? 'changed' : written > 0 ? 'written' : fresh > 0 ? 'new' : `~ estimated`
}

const MOST_TEXT = 64 * 1024

/** The exact text of a source in this request, or of what it has been added to. */
function BlockText({ base, block, n }: { base: string; block: Block; n: number }) {
  const end = useSignal(MOST_TEXT)
  const text = useLoaded(`${base} ${block.index} ${end.value}`, (signal) =>
    getText(`${base}/blocks/${block.index}`, { from: 0, to: end.value, signal }),
  )
  if (text.state !== 'there') return <Waiting loaded={text} />
  return (
    <div class="block-text">
      <p class="note">
        {oneLine(block.source)} in the request of step {n} · {bytes(text.value.size)}
        {block.message !== undefined && ` · message ${block.message}`}
        {block.from !== undefined &&
          block.to !== undefined &&
          `, bytes ${count(block.from)} to ${count(block.to)}`}
      </p>
      <pre class="exact scrolls" tabIndex={0}>
        <Plain text={text.value.text} />
      </pre>
      <More of={text.value} read={() => (end.value += MOST_TEXT)} />
    </div>
  )
}

function Waiting({ loaded }: { loaded: Loaded<unknown> }) {
  return loaded.state === 'problem' ? <p class="note bad">{loaded.problem}</p> : <p class="note">Reading …</p>
}

/** What is shown of a request at once; larger ones are read by the piece. */
const MOST_JSON = 4 * 1024 * 1024

function Request({ run, n, whole, base }: PanelProperties) {
  const raw = useLoaded(whole.request && `${base}/request`, (signal) =>
    getText(`${base}/request`, { from: 0, to: MOST_JSON, signal }),
  )
  const blocks = whole.request?.blocks ?? []
  if (!whole.request) return <p class="empty">No request is recorded for this step.</p>
  return (
    <>
      <h3>Since step {n - 1 || 'the start'}</h3>
      <ul class="changes">
        {blocks.map((block) => (
          <BlockChange key={block.index} run={run} n={n} block={block} base={base} />
        ))}
        {whole.request.removed.map(({ source, tokens }) => (
          <li key={source}>
            <b>{oneLine(source)}</b> <span class="dim">gone, {count(tokens)} tokens</span>
          </li>
        ))}
      </ul>
      <h3>
        The request · {bytes(whole.request.bytes)} · {oneLine(whole.card.request?.api ?? '')}
      </h3>
      {raw.state === 'there' ? (
        <RawJson text={raw.value.text} isWhole={raw.value.end >= raw.value.size} />
      ) : (
        <Waiting loaded={raw} />
      )}
    </>
  )
}

function BlockChange({ run, n, block, base }: { run: OpenRun; n: number; block: Block; base: string }) {
  const isOpen = useSignal(block.breaksAt !== undefined)
  const words = {
    first: 'for the first time',
    same: 'the same',
    grown: 'grown at its end',
    changed: block.breaksAt === undefined ? 'changed' : `changed at byte ${count(block.breaksAt)}`,
  }[block.change]
  const canOpen = block.change === 'grown' || block.change === 'changed'
  return (
    <li>
      <p>
        {canOpen ? (
          <button
            type="button"
            class="fold"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            {isOpen.value ? '▾' : '▸'} {oneLine(block.source)}
          </button>
        ) : (
          <span class="unfoldable">{oneLine(block.source)}</span>
        )}
        <span class={block.breaksAt === undefined ? 'dim' : 'bad'}>{words}</span>
      </p>
      {isOpen.value && canOpen && <Difference run={run} n={n} block={block} base={base} />}
    </li>
  )
}

function Difference({ run, n, block, base }: { run: OpenRun; n: number; block: Block; base: string }) {
  const lines = useLoaded(`${base} ${block.index}`, async (signal) => {
    const path = `/api/runs/${encodeURIComponent(run.key)}/steps/${n - 1}`
    const before = (await get<WholeStep>(path, signal)).request?.blocks.find(
      ({ source }) => source === block.source,
    )
    const after = await getText(`${base}/blocks/${block.index}`, { from: 0, to: MOST_JSON, signal })
    const old = before
      ? await getText(`${path}/blocks/${before.index}`, { from: 0, to: MOST_JSON, signal })
      : { text: '' }
    return diffLines(pretty(old.text), pretty(after.text), 2)
  })
  if (lines.state !== 'there') return <Waiting loaded={lines} />
  return lines.value.length === 0 ? (
    <p class="note">Only its place is another.</p>
  ) : (
    <Diff lines={lines.value.slice(0, 600)} />
  )
}

/** JSON on one line has no lines to compare. */
function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 1)
  } catch {
    return text // it only looks like JSON
  }
}

function RawJson({ text, isWhole }: { text: string; isWhole: boolean }) {
  if (isWhole)
    try {
      return <JsonTree value={JSON.parse(text)} />
    } catch {
      // it is shown as it stands
    }
  return (
    <pre class="exact scrolls" tabIndex={0}>
      <Plain text={text.slice(0, MOST_TEXT)} />
    </pre>
  )
}

function Response({ whole, base, version }: PanelProperties) {
  const hasAnswer = whole.card.thought !== undefined
  const isRecorded = hasAnswer && whole.request !== undefined
  const raw = useLoaded(isRecorded ? `${base} ${version}` : undefined, (signal) =>
    getText(`${base}/response`, { from: 0, to: MOST_JSON, signal }),
  )
  if (!hasAnswer) return <p class="empty">The model has not answered.</p>
  const { reasoning, thought } = whole.card
  return (
    <>
      {reasoning && reasoning.text !== '' && (
        <>
          <h3>Reasoning</h3>
          <p class="reasoning-text">
            <Plain text={reasoning.text} />
          </p>
        </>
      )}
      {thought && thought.text !== '' && (
        <>
          <h3>{whole.card.isAnswer ? 'Answer' : 'Text'}</h3>
          <p class="says">
            <Plain text={thought.text} />
          </p>
        </>
      )}
      <h3>As the provider sent it</h3>
      {!isRecorded ? (
        <p class="empty">It is not recorded.</p>
      ) : raw.state === 'there' ? (
        <RawJson text={raw.value.text} isWhole={raw.value.end >= raw.value.size} />
      ) : (
        <Waiting loaded={raw} />
      )}
    </>
  )
}

function Files({ changes }: PanelProperties) {
  if (changes.state !== 'there') return <Waiting loaded={changes} />
  const { files, unknown, omitted, omittedCount } = changes.value
  if (files === null)
    return <p class="empty">{unknown ?? 'No snapshots were taken of the files of this run.'}</p>
  return (
    <>
      {files.length === 0 && <p class="empty">No file changed in this step.</p>}
      {files.map((file) => (
        <FileChange key={file.path} file={file} isOpen={files.length <= 4} />
      ))}
      {omittedCount > 0 && (
        <>
          <h3>Not in the snapshot</h3>
          <ul class="plain">
            {omitted.map(({ path, reason }) => (
              <li key={path}>
                <span class="mono">{oneLine(path)}</span> <span class="dim">{oneLine(reason)}</span>
              </li>
            ))}
            {omittedCount > omitted.length && (
              <li class="dim">{count(omittedCount - omitted.length)} more</li>
            )}
          </ul>
        </>
      )}
    </>
  )
}

const KINDS = { A: 'added', D: 'deleted', M: 'modified', T: 'type changed' }

function FileChange({ file, isOpen }: { file: ChangedFile; isOpen: boolean }) {
  const { path, kind, added, removed, diff } = file
  return (
    <details class="file" open={isOpen}>
      <summary>
        <span class="mono" title={KINDS[kind]}>
          {kind} {oneLine(path)}
        </span>
        <span class="counts">
          {added !== null && <span class="added">+{added}</span>}{' '}
          {removed !== null && <span class="removed">−{removed}</span>}
        </span>
      </summary>
      {diff === null ? <p class="note">binary</p> : <Diff lines={parseUnifiedDiff(diff.text)} numbers />}
      {diff !== null && diff.bytes > MOST_TEXT && (
        <p class="note">The first 64 KiB of {bytes(diff.bytes)}.</p>
      )}
    </details>
  )
}

function Output({ base, whole, call, show, run, n }: PanelProperties) {
  const { calls } = whole.card
  const chosen =
    calls.find(({ actionId }) => actionId === call) ??
    calls.find(({ status }) => status !== 'success') ??
    calls[0]
  if (!chosen) return <p class="empty">No tool was called in this step.</p>
  return (
    <>
      {calls.length > 1 && (
        <ul class="choice" aria-label="Calls of this step">
          {calls.map((each) => (
            <li key={each.actionId}>
              <button
                type="button"
                class="link"
                aria-current={each === chosen}
                onClick={() => show({ tab: 'output', call: each.actionId })}
              >
                <b>{oneLine(each.tool)}</b> <Arguments text={each.arguments.text} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <CallOutput key={`${base} ${chosen.actionId}`} call={chosen} run={run} n={n} />
    </>
  )
}

function CallOutput({ call, run, n }: { call: CallCard; run: OpenRun; n: number }) {
  const base = `/api/runs/${encodeURIComponent(run.key)}/steps/${n}/calls/${encodeURIComponent(call.actionId)}`
  return (
    <>
      {call.command && (
        <>
          <h3>Command</h3>
          <pre class="exact">
            <Plain text={call.command.text} />
          </pre>
        </>
      )}
      <Stream name="stdout" path={`${base}/stdout`} isGrowing={call.status === 'running'} />
      <Stream name="stderr" path={`${base}/stderr`} isGrowing={call.status === 'running'} />
      <h3>As the model reads it · {bytes(call.output.bytes)}</h3>
      {call.output.bytes === 0 ? (
        <p class="empty">
          {call.status === 'running' || call.status === 'pending' ? 'Not yet.' : 'Nothing.'}
        </p>
      ) : (
        <pre class="exact scrolls" tabIndex={0}>
          <Terminal
            text={[
              ...call.output.first,
              ...(call.output.omittedLines > 0 ? [`… ${count(call.output.omittedLines)} lines`] : []),
              ...call.output.last,
            ].join('\n')}
          />
        </pre>
      )}
    </>
  )
}

/** What a command printed, 64 KiB at a time; while it runs, asked for again each second. */
function Stream({ name, path, isGrowing }: { name: string; path: string; isGrowing: boolean }) {
  const end = useSignal(MOST_TEXT)
  const turn = useSignal(0)
  useEffect(() => {
    if (!isGrowing) return
    const timer = setInterval(() => (turn.value += 1), 1000)
    return () => clearInterval(timer)
  }, [isGrowing])
  const output = useLoaded(`${path} ${end.value} ${turn.value} ${isGrowing}`, (signal) =>
    getText(path, { from: 0, to: end.value, signal }),
  )
  if (output.state === 'there' && output.value.size === 0) return null
  return (
    <>
      <h3>
        {name}
        {output.state === 'there' && ` · ${bytes(output.value.size)}`}
      </h3>
      {output.state !== 'there' ? (
        <Waiting loaded={output} />
      ) : (
        <>
          <pre class="exact scrolls" tabIndex={0}>
            <Terminal text={output.value.text} />
          </pre>
          <More of={output.value} read={() => (end.value += MOST_TEXT)} />
        </>
      )}
    </>
  )
}

/** The rest of a text; an exported file may not have it. */
function More({ of: { size, end }, read }: { of: { size: number; end: number }; read(): void }) {
  if (end >= size) return null
  if (file) return <p class="note">{bytes(size - end)} more are not in this file: export it with --full.</p>
  return (
    <button type="button" class="link" onClick={read}>
      {bytes(size - end)} more
    </button>
  )
}

function Journal({ whole }: PanelProperties) {
  return (
    <ol class="journal">
      {whole.journal.map(({ seq, type, line }) => (
        <li key={seq}>
          <JournalLine
            seq={seq}
            type={type}
            text={line.text}
            isCut={line.bytes > new TextEncoder().encode(line.text).length}
            size={line.bytes}
          />
        </li>
      ))}
    </ol>
  )
}

function JournalLine({
  seq,
  type,
  text,
  isCut,
  size,
}: {
  seq: number
  type: string
  text: string
  isCut: boolean
  size: number
}) {
  const isOpen = useSignal(false)
  return (
    <details open={isOpen.value} onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary>
        <span class="number dim">{seq}</span> <span class="mono">{oneLine(type)}</span>{' '}
        <span class="dim">{bytes(size)}</span>
      </summary>
      {isOpen.value && (isCut ? <p class="note">The first 64 KiB of {bytes(size)}.</p> : null)}
      {isOpen.value && <RawJson text={text} isWhole={!isCut} />}
    </details>
  )
}
