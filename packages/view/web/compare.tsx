import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { CallCard, DiffAnswer, RunRow, StepCard } from '../src/api.js'
import { CellWords } from './cells.js'
import { get } from './client.js'
import { ForkSign } from './fork-sign.js'
import { clock, count, duration, money, plural, runName, shortId } from './format.js'
import { type Actions, useActions } from './keys.js'
import { useLoaded } from './load.js'
import { type OpenRun, openRun } from './open-run.js'
import { copy, go } from './state.js'
import { Arguments, exitOf } from './step.js'
import { oneLine } from './text/marks.js'
import { Plain } from './text/text.js'
import { type ListHandle, Windowed } from './windowed.js'
import { statusClass, statusWord } from './words.js'

type Aligned = DiffAnswer['diff']['steps'][number]
/** A pair of steps, or a stretch of equal ones that is folded. */
type Line = { kind: 'pair'; pair: Aligned } | { kind: 'same'; pairs: Aligned[]; at: number }

/** Two runs side by side: where they part, and why. */
export function Compare({ a, b }: { a: string; b: string }) {
  const [left, right] = useMemo(() => [openRun(a), openRun(b)] as const, [a, b])
  useEffect(
    () => () => {
      left.close()
      right.close()
    },
    [left, right],
  )
  const answer = useLoaded(`${a} ${b}`, (signal) =>
    get<DiffAnswer>(`/api/diff?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`, signal),
  )
  const unfolded = useSignal<ReadonlySet<number>>(new Set())
  const cursor = useSignal(0)
  const list = useRef<ListHandle>(null)
  const diff = answer.state === 'there' ? answer.value.diff : undefined
  const lines = useMemo(() => (diff ? linesOf(diff, unfolded.value) : []), [diff, unfolded.value])
  const back = () => go({ screen: 'runs', filter: '', sort: '' })
  const [task, other] = [left, right].map((run) => oneLine(run.row.value?.task ?? ''))
  const isSameTask = task !== '' && task === other

  function move(by: number): void {
    cursor.value = Math.min(lines.length - 1, Math.max(0, cursor.value + by))
    list.current?.show(cursor.value)
  }

  function toggle(line: Line): void {
    if (line.kind !== 'same') return
    const next = new Set(unfolded.value)
    if (!next.delete(line.at)) next.add(line.at)
    unfolded.value = next
  }

  function open(): void {
    const line = lines[cursor.value]
    if (line?.kind === 'same') toggle(line)
    else if (line?.pair.a != null) go({ screen: 'run', key: a, step: line.pair.a, tab: 'context' })
    else if (line?.pair.b != null) go({ screen: 'run', key: b, step: line.pair.b, tab: 'context' })
  }

  const actions: Actions = {
    next: () => move(1),
    previous: () => move(-1),
    nextFailure: () => toFirst(),
    previousFailure: () => toFirst(),
    first: () => move(-lines.length),
    last: () => move(lines.length),
    open,
    fold: open,
    back,
    copy: () => answer.state === 'there' && copy(answer.value.command),
    compare: () => go({ screen: 'diff', a: b, b: a }),
  }
  useActions(actions)
  useEffect(() => {
    document.title = 'delta: compare'
  }, [])

  function toFirst(): void {
    const at = lines.findIndex((line) => line.kind === 'pair' && line.pair.a === diff?.first?.step)
    if (at !== -1) move(at - cursor.value)
  }

  return (
    <div class="screen compare">
      <header class="bar">
        <button type="button" class="link quiet" onClick={back}>
          ‹ runs
        </button>
        <h1 title={isSameTask ? task : undefined}>
          <bdi>{isSameTask ? task : 'Compare'}</bdi>
        </h1>
      </header>
      <div class="sides">
        <Side letter="A" run={left} task={isSameTask ? '' : task} />
        <Side letter="B" run={right} task={isSameTask ? '' : other} />
      </div>
      {answer.state === 'problem' && <p class="empty bad">{answer.problem}</p>}
      {answer.state === 'loading' && <p class="empty">Comparing step by step …</p>}
      {diff && <Verdict diff={diff} open={toFirst} />}
      {diff && lines.length === 0 && <p class="empty">Neither run has steps.</p>}
      {diff && lines.length > 0 && (
        <Windowed
          handle={list}
          count={lines.length}
          guess={36}
          role="grid"
          label="Steps of both runs"
          class="pairs"
          onRows={(from, to) => {
            for (const [run, side] of [
              [left, 'a'],
              [right, 'b'],
            ] as const) {
              const shown = lines
                .slice(from, to)
                .flatMap((line) => (line.kind === 'pair' ? (line.pair[side] ?? []) : []))
              if (shown.length > 0) run.need(Math.min(...shown), Math.max(...shown))
            }
          }}
          row={(index) => {
            const line = lines[index]
            if (!line) return null
            const isCurrent = index === cursor.value
            if (line.kind === 'same')
              return (
                <div class={`fold-line ${isCurrent ? 'selected' : ''}`} role="row" aria-rowindex={index + 1}>
                  <span role="gridcell">
                    <button
                      type="button"
                      class="link quiet"
                      aria-expanded={unfolded.value.has(line.at)}
                      onClick={() => toggle(line)}
                    >
                      {unfolded.value.has(line.at) ? '▾' : '▸'} {stretch(line.pairs)}
                    </button>
                  </span>
                </div>
              )
            const isFirst = diff.first !== null && line.pair.a === diff.first.step
            return (
              <Pair
                pair={line.pair}
                left={left}
                right={right}
                index={index}
                isCurrent={isCurrent}
                isFirst={isFirst}
                version={left.version.value + right.version.value}
              />
            )
          }}
        />
      )}
    </div>
  )
}

/** Behind the first difference, `same` speaks of the calls alone: a step where only results differ is one that differs. */
function linesOf({ steps: aligned, first }: DiffAnswer['diff'], unfolded: ReadonlySet<number>): Line[] {
  const steps = aligned.map((pair) => (first && pair.a === first.step ? { ...pair, same: false } : pair))
  const lines: Line[] = []
  for (let at = 0; at < steps.length; at++) {
    const pair = steps[at] as Aligned
    let end = at
    while (steps[end]?.same) end++
    if (end - at < 2) {
      lines.push({ kind: 'pair', pair })
      continue
    }
    const pairs = steps.slice(at, end)
    lines.push({ kind: 'same', pairs, at })
    if (unfolded.has(at)) lines.push(...pairs.map((each): Line => ({ kind: 'pair', pair: each })))
    at = end - 1
  }
  return lines
}

function stretch(pairs: readonly Aligned[]): string {
  const [first, last] = [pairs[0], pairs.at(-1)]
  const moved = first?.a !== first?.b ? ` (${first?.b} to ${last?.b} in B)` : ''
  return `Steps ${first?.a} to ${last?.a}${moved} are the same`
}

function Side({ letter, run, task = '' }: { letter: string; run: OpenRun; task: string | undefined }) {
  const row = run.row.value
  if (!row) return <p class="side">{run.problem.value ?? letter}</p>
  return (
    <p class="side">
      <b>{letter}</b>
      <a class="mono" href={`#/run/${encodeURIComponent(run.key)}`}>
        {oneLine(runName(row))}
      </a>
      <span class="model-name cut" title={row.models.map(oneLine).join(', ')}>
        {oneLine(row.models[0] ?? '')}
      </span>
      <ForkMark row={row} />
      <span class={statusClass(row.status)}>{oneLine(statusWord(row))}</span>
      <CellWords cell={row.cell} />
      <span class="dim">
        {plural(row.steps, 'step')} · {money(row.cost)} · {clock(row.wallMs)}
      </span>
      {task !== '' && (
        <bdi class="task cut" title={task}>
          {task}
        </bdi>
      )}
    </p>
  )
}

function ForkMark({ row }: { row: RunRow }) {
  return row.forkOf ? (
    <span class="dim">
      <ForkSign /> {oneLine(shortId(row.forkOf.id))} at {row.forkOf.step}
    </span>
  ) : null
}

function Verdict({ diff, open }: { diff: DiffAnswer['diff']; open(): void }) {
  const { first, also } = diff
  const isAllShown = useSignal(false)
  if (!first) return <p class="verdict">No difference: the same messages, requests, answers and results.</p>
  const { cause, step, where, byte, left, right, evidence } = first
  return (
    <section class="verdict" aria-label="First difference">
      <p>
        <span class="label">First divergence</span>
        <button type="button" class="link" onClick={open}>
          step {step}
        </button>
        <b class="cause">{cause}</b>
        <span>
          <code>{oneLine(where)}</code>
          {byte !== undefined && ` differs at byte ${count(byte)}`}
        </span>
      </p>
      {(left !== null || right !== null) && (
        <div class="excerpts">
          <Excerpt letter="A" text={left} />
          <Excerpt letter="B" text={right} />
        </div>
      )}
      {evidence !== undefined && <p class="note">{oneLine(evidence)}</p>}
      {also.length > 0 && (
        <ul class="also">
          {also.slice(0, isAllShown.value ? 200 : 4).map((each, index) => (
            <li key={index}>
              <span class="label">{index === 0 && 'Also different'}</span>
              <b>{each.cause}</b>
              <code class="cut">{oneLine(each.where)}</code>
              <span
                class="cut"
                title={`${oneLine(each.left ?? 'nothing')} → ${oneLine(each.right ?? 'nothing')}`}
              >
                {oneLine(each.left ?? 'nothing')} <span class="dim">→</span>{' '}
                {oneLine(each.right ?? 'nothing')}
              </span>
            </li>
          ))}
          {also.length > 4 && !isAllShown.value && (
            <li>
              <span />
              <button type="button" class="link" onClick={() => (isAllShown.value = true)}>
                {count(also.length - 4)} more
              </button>
            </li>
          )}
        </ul>
      )}
      {diff.masked > 0 && <p class="note">{plural(diff.masked, 'text')} masked</p>}
    </section>
  )
}

function Excerpt({ letter, text }: { letter: string; text: string | null }) {
  return (
    <p>
      <b>{letter}</b>
      {text === null ? (
        <span class="dim">nothing</span>
      ) : (
        <code>
          <Plain text={text} />
        </code>
      )}
    </p>
  )
}

function Pair(properties: {
  pair: Aligned
  left: OpenRun
  right: OpenRun
  index: number
  isCurrent: boolean
  isFirst: boolean
  version: number
}) {
  const { pair, left, right, index, isCurrent, isFirst } = properties
  const isSame = pair.same && !haveOtherAnswers(left.card(pair.a ?? 0), right.card(pair.b ?? 0))
  const sign = isSame ? '=' : pair.a === null || pair.b === null ? '·' : '≠'
  return (
    <div
      class={`pair ${isSame ? 'same' : ''} ${isCurrent ? 'selected' : ''} ${isFirst ? 'first' : ''}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isCurrent}
    >
      <Half run={left} n={pair.a} />
      <span
        class="sign"
        role="gridcell"
        title={isSame ? 'the same' : sign === '≠' ? 'different' : 'only in one'}
      >
        {sign}
      </span>
      <Half run={right} n={pair.b} />
    </div>
  )
}

/** Behind the first difference steps are the same if their calls are: of steps without calls, what they say counts. */
function haveOtherAnswers(one: StepCard | null | undefined, other: StepCard | null | undefined): boolean {
  const isSilent = [one, other].every((card) => card && card.calls.length === 0)
  return isSilent && one?.thought?.text !== other?.thought?.text
}

function Half({ run, n }: { run: OpenRun; n: number | null }) {
  if (n === null)
    return (
      <span class="half" role="gridcell">
        <span class="n" />
        <span class="dim">—</span>
      </span>
    )
  const card = run.card(n)
  return (
    <span class="half" role="gridcell">
      <a class="n" href={`#/run/${encodeURIComponent(run.key)}/step/${n}`}>
        {n}
      </a>
      <span class="acts">{card ? <Acts card={card} /> : <span class="dim">…</span>}</span>
    </span>
  )
}

function Acts({ card }: { card: StepCard }) {
  if (card.calls.length === 0)
    return (
      <span class="act">
        <span class="text">
          {oneLine(card.thought?.text ?? card.errors.at(-1)?.message ?? card.said[0]?.text.text ?? '').slice(
            0,
            300,
          )}
        </span>
      </span>
    )
  return (
    <>
      {card.calls.map((call) => (
        <span class="act" key={call.actionId}>
          <b>{oneLine(call.tool)}</b>
          <span class="text">
            <Arguments text={call.arguments.text} />
          </span>
          <Outcome call={call} />
        </span>
      ))}
    </>
  )
}

function Outcome({ call }: { call: CallCard }) {
  const isBad = call.status !== 'success' && call.status !== 'running' && call.status !== 'pending'
  const words = [isBad ? exitOf(call) : '', duration(call.durationMs)]
  return (
    <span class={isBad ? 'outcome bad' : 'outcome dim'}>
      {words.filter(Boolean).map((word, index) => (
        <span key={index}>{word}</span>
      ))}
    </span>
  )
}
