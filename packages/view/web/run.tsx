import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { SearchMatch } from '../src/api.js'
import { type Address, TABS } from './address.js'
import { CellWords } from './cells.js'
import { search } from './client.js'
import { CostPanel } from './cost.js'
import { ForkSign } from './fork-sign.js'
import { clock, count, money, plural, runName, shortId } from './format.js'
import { Inspector } from './inspector.js'
import { type Actions, useActions } from './keys.js'
import { type OpenRun, openRun } from './open-run.js'
import { marked, wallOf } from './runs.js'
import { copy, explain, go, isWide, say } from './state.js'
import { Step, type StepActions } from './step.js'
import { Legend, Strip } from './strip.js'
import { flat, oneLine } from './text/marks.js'
import { Plain } from './text/text.js'
import { type ListHandle, Windowed } from './windowed.js'
import { statusClass, statusWord } from './words.js'

type RunAddress = Extract<Address, { screen: 'run' }>

/** A run: its time on top, its steps on the left, what there is to know about one of them on the right. */
export function Run({ at }: { at: RunAddress }) {
  const run = useMemo(() => openRun(at.key), [at.key])
  useEffect(() => () => run.close(), [run])
  const list = useRef<ListHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const isFollowing = useMemo(() => signal(at.step === undefined), [run])
  const total = run.count.value
  const step = at.step ?? (isFollowing.value || !run.isLoaded.value ? undefined : total)
  const shown = Math.min(step ?? total, total)
  const card = run.version.value >= 0 ? run.card(shown) : undefined

  /** The list moves only as far as it must. */
  function select(n: number, place: 'top' | 'nearest' = 'nearest'): void {
    if (total === 0) return
    const next = Math.min(total, Math.max(1, n))
    const { view: _, by: __, call: ___, ...rest } = at
    go({ ...rest, step: next }, { replace: at.step !== undefined || isWide.value })
    list.current?.show(next - 1, place)
  }

  // Back, or an address that was typed, leads to another step, too
  useEffect(() => {
    if (at.step !== undefined) list.current?.show(at.step - 1)
  }, [at.step])

  async function jumpToFailure(direction: 1 | -1): Promise<void> {
    try {
      const n = await run.failure(shown, direction)
      if (n === undefined)
        say(direction === 1 ? 'No failure after this step.' : 'No failure before this step.')
      else select(n)
    } catch (error) {
      say(explain(error))
    }
  }

  function show(change: Partial<RunAddress>): void {
    const { view: _, by: __, call: ___, ...rest } = at
    go({ ...rest, step: shown, ...change }, { replace: isWide.value })
  }

  function back(): void {
    if (at.search !== undefined) {
      const { search: _, ...rest } = at
      go(rest, { replace: true })
    } else if (at.view === 'cost') {
      const { view: _, by: __, ...rest } = at
      go(rest)
    } else if (!isWide.value && at.step !== undefined) {
      const { step: _, ...rest } = at
      go(rest)
    } else go({ screen: 'runs', filter: '', sort: '' })
  }

  const actions: Actions = {
    next: () => select(shown + 1),
    previous: () => select(shown - 1),
    nextFailure: () => jumpToFailure(1),
    previousFailure: () => jumpToFailure(-1),
    first: () => select(1, 'top'),
    last: () => {
      const { step: _, view: __, by: ___, call: ____, ...rest } = at
      go(rest, { replace: true })
      isFollowing.value = true
      list.current?.follow()
    },
    open: () => show({}),
    back,
    tab: (number) => {
      const tab = TABS[number]
      if (tab) show({ tab })
    },
    search: () => {
      go({ ...at, search: at.search ?? '' }, { replace: true })
      requestAnimationFrame(() => field.current?.select())
    },
    whole: () => show({ tab: 'output' }),
    cost: () => (at.view === 'cost' ? back() : go({ ...at, view: 'cost' })),
    mark: () => {
      marked.value = [...marked.value.filter((key) => key !== at.key).slice(-1), at.key]
      say('This run is marked. Mark another one and press d.')
    },
    compare: () => {
      const [a, b] = marked.value
      if (a !== undefined && b !== undefined) go({ screen: 'diff', a, b })
    },
    copy: () => copy(commandOf(run, at, shown)),
  }
  useActions(actions)

  const row = run.row.value
  const title = oneLine(row?.task ?? '') || shortId(row?.id ?? '')
  useEffect(() => {
    document.title = row ? `${title} · delta` : 'delta'
  }, [title])

  const steps: StepActions = {
    select: (n) => select(n),
    output: (n, call) => go({ ...at, step: n, tab: 'output', call }),
    files: (n) => go({ ...at, step: n, tab: 'files' }),
  }
  const isInspectorShown = isWide.value || at.step !== undefined
  if (run.problem.value !== undefined && !run.isLoaded.value)
    return (
      <div class="screen run">
        <Title run={run} title={at.key} back={back} />
        <p class="empty bad">{run.problem.value}</p>
      </div>
    )
  return (
    <div class="screen run">
      <Title run={run} title={title} back={back} />
      {(run.columns.value.length > 0 || !run.page.value || row?.status === 'RUNNING') && (
        <Strip columns={run.columns.value} step={step} go={(n) => select(n, 'top')} />
      )}
      <Standing run={run} />
      {at.search !== undefined && (
        <Search at={at} field={field} select={(n) => select(n, 'top')} close={back} />
      )}
      {at.view === 'cost' ? (
        <CostPanel run={run} at={at} select={(n) => select(n, 'top')} />
      ) : (
        <main class={total > 0 || !run.isLoaded.value ? 'panes' : 'panes single'}>
          {(isWide.value || !isInspectorShown) && (
            <section class="steps" aria-label="Steps">
              {total > 0 && (
                <div class="steps-head" aria-hidden="true">
                  <Legend columns={run.columns.value} />
                  <span class="label">Exit</span>
                  <span class="label">Tool</span>
                  <span class="label">Model</span>
                  <span class="label">Cost</span>
                </div>
              )}
              {total === 0 && <NoSteps run={run} />}
              {total > 0 && run.isLoaded.value && (
                <Windowed
                  key={run.key}
                  handle={list}
                  count={total}
                  guess={64}
                  role="feed"
                  label="Steps"
                  follows
                  startsAt={at.step === undefined ? undefined : at.step - 1}
                  onRows={(from, to) => run.need(from + 1, to)}
                  onFollow={(follows) => {
                    isFollowing.value = follows
                  }}
                  row={(index) => {
                    const each = run.card(index + 1)
                    if (each === null) return null
                    if (each === undefined) return <p class="step loading">{index + 1}</p>
                    return <Step card={each} isSelected={each.n === shown} total={total} actions={steps} />
                  }}
                />
              )}
              {!isFollowing.value && row?.status === 'RUNNING' && (
                <button type="button" class="follow" onClick={actions.last}>
                  Follow <kbd>G</kbd>
                </button>
              )}
            </section>
          )}
          {isInspectorShown && total > 0 && (
            <Inspector
              run={run}
              n={shown}
              card={card}
              tab={at.tab}
              call={at.call}
              show={show}
              select={(n) => select(n, 'top')}
            />
          )}
        </main>
      )}
    </div>
  )
}

/** The command that prints what the page shows. */
function commandOf(run: OpenRun, { view, by, tab }: RunAddress, n: number): string {
  const { argument = run.row.value?.id ?? '', continue: goOn } = run.page.value?.commands ?? {}
  const shown =
    view === 'cost'
      ? `delta cost ${argument} --by ${by ?? 'source'}`
      : `delta show ${argument} ${tab === 'request' ? '--request' : '--step'} ${n}`
  return goOn === undefined ? shown : `${shown}\n${goOn}`
}

function Title({ run, title, back }: { run: OpenRun; title: string; back(): void }) {
  const row = run.row.value
  if (!row)
    return (
      <header class="bar">
        <button type="button" class="link quiet" onClick={back}>
          ‹ runs
        </button>
        <h1>{run.isLoaded.value ? title : ''}</h1>
      </header>
    )
  const [model, ...others] = row.models
  return (
    <header class="bar">
      <button type="button" class="link quiet" onClick={back}>
        ‹ runs
      </button>
      <h1 title={title}>
        <bdi>{title}</bdi>
      </h1>
      <p class="about">
        {row.task !== null && (
          <span class="mono" title={oneLine(row.id)}>
            {oneLine(runName(row))}
          </span>
        )}
        {row.forkOf && (
          <RunLink runKey={row.forkOf.key} place={`/step/${row.forkOf.step}`}>
            <ForkSign /> {oneLine(shortId(row.forkOf.id))} at {row.forkOf.step}
          </RunLink>
        )}
        {row.caller && <RunLink runKey={row.caller.key}>called by {oneLine(shortId(row.caller.id))}</RunLink>}
        <span>{oneLine(row.agent ?? '')}</span>
        <span title={row.models.map(oneLine).join(', ')}>
          {oneLine(model ?? '')}
          {others.length > 0 && ` +${others.length}`}
        </span>
      </p>
      <p class="sums">
        <span class={statusClass(row.status)} title={oneLine(row.reason ?? '')}>
          {row.status === 'RUNNING' && <i class="dot" />} {oneLine(statusWord(row))}
        </span>
        <CellWords cell={row.cell} />
        {row.startedAt !== null && <span class="wall">{clock(wallOf(row))}</span>}
        {row.tokens > 0 && (
          <>
            <span>{money(row.cost)}</span>
            <span>
              {row.isEstimated && '~'}
              {plural(row.tokens, 'token')}
            </span>
          </>
        )}
      </p>
    </header>
  )
}

/** A run that is not among those that are shown has a name, but no page. */
function RunLink({
  runKey,
  place = '',
  children,
}: {
  runKey: string | undefined
  place?: string
  children: ComponentChildren
}) {
  return runKey === undefined ? (
    <span>{children}</span>
  ) : (
    <a href={`#/run/${encodeURIComponent(runKey)}${place}`}>{children}</a>
  )
}

/** Why a run does not go on, and what to type so that it does: it waits for a person, has failed, or cannot be read. */
function Standing({ run }: { run: OpenRun }) {
  const question = run.question.value
  const row = run.row.value
  const isInLastStep = run.card(run.count.value)?.errors.some(({ message }) => message === row?.reason)
  const reason = statusClass(row?.status ?? null) === 'bad' && !isInLastStep ? row?.reason : undefined
  const problem = row?.problem ?? reason
  const command = run.page.value?.commands.continue
  if (!question && !problem) return null
  return (
    <div class="standing">
      {question ? (
        <span class="label waits">
          {question.kind === 'approval' ? 'Waits for approval' : 'Waits for an answer'}
        </span>
      ) : (
        <span class="label bad">{row?.status.toLowerCase()}</span>
      )}
      <p>
        <Plain text={question?.prompt ?? problem?.replace(/^damaged: /, '') ?? ''} />
      </p>
      {command && (
        <button type="button" class="link mono" onClick={() => copy(command)}>
          {oneLine(command)}
        </button>
      )}
    </div>
  )
}

function NoSteps({ run }: { run: OpenRun }) {
  const row = run.row.value
  if (!run.isLoaded.value || !row) return <p class="empty">Reading the run …</p>
  if (row.status === 'RUNNING')
    return <p class="empty">No step yet. It appears here as soon as the model is asked.</p>
  if (row.problem) return <p class="empty">No step of this run can be read.</p>
  return <p class="empty">This run has no steps: it ended before the model was asked.</p>
}

/** Searching a run: matches as they are found; a number goes to that step. */
function Search(properties: {
  at: RunAddress
  field: { current: HTMLInputElement | null }
  select(n: number): void
  close(): void
}) {
  const { at, field, select, close } = properties
  const query = at.search ?? ''
  const { matches, state, chosen } = useMemo(
    () => ({ matches: signal<readonly SearchMatch[]>([]), state: signal(''), chosen: signal(-1) }),
    [at.key],
  )
  const isNumber = /^\d+$/.test(query.trim())
  useEffect(() => {
    matches.value = []
    chosen.value = -1
    state.value = ''
    if (query.trim() === '' || isNumber) return
    const stopping = new AbortController()
    const timer = setTimeout(async () => {
      state.value = 'searching …'
      try {
        let held: SearchMatch[] = []
        let drawn = 0
        const path = `/api/runs/${encodeURIComponent(at.key)}/search?q=${encodeURIComponent(query)}`
        for await (const match of search(path, stopping.signal)) {
          held = [...held, match]
          if (held.length > 20 && performance.now() - drawn < 100) continue
          matches.value = held
          drawn = performance.now()
        }
        matches.value = held
        state.value =
          held.length >= 1000
            ? 'the first 1,000 matches'
            : plural(held.length, 'match').replace('matchs', 'matches')
      } catch (error) {
        if (!stopping.signal.aborted) state.value = explain(error)
      }
    }, 120)
    return () => {
      clearTimeout(timer)
      stopping.abort()
    }
  }, [query, at.key])

  function choose(by: number): void {
    const next = Math.min(matches.value.length - 1, Math.max(0, chosen.value + by))
    chosen.value = next
    const match = matches.value[next]
    if (match) select(match.n)
    document.getElementById(`match-${next}`)?.scrollIntoView({ block: 'nearest' })
  }

  return (
    <search class="search">
      <label>
        <span class="hidden">Search this run</span>
        <kbd aria-hidden="true">/</kbd>
        <input
          ref={field}
          type="search"
          value={query}
          placeholder="words, or the number of a step"
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => go({ ...at, search: event.currentTarget.value }, { replace: true })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              event.stopPropagation()
              event.preventDefault()
              close()
            } else if (event.key === 'Enter') {
              event.preventDefault()
              if (isNumber) {
                event.currentTarget.blur()
                select(Number(query))
              } else choose(event.shiftKey ? -1 : 1)
            } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
              event.preventDefault()
              choose(event.key === 'ArrowDown' ? 1 : -1)
            }
          }}
        />
        <span class="dim" role="status">
          {isNumber ? 'enter: to this step' : state.value}
        </span>
      </label>
      {matches.value.length > 0 && (
        <ol>
          {matches.value.slice(0, 200).map((match, index) => (
            <li key={index}>
              <button
                type="button"
                id={`match-${index}`}
                class={index === chosen.value ? 'match selected' : 'match'}
                onClick={() => {
                  chosen.value = index
                  select(match.n)
                }}
              >
                <span class="n">{match.n}</span>
                <span class="dim">{match.tool ? `${oneLine(match.tool)} ${match.where}` : match.where}</span>
                <span class="mono">
                  <bdi>
                    {flat(match.before)}
                    <mark>{flat(match.match)}</mark>
                    {flat(match.after)}
                  </bdi>
                </span>
              </button>
            </li>
          ))}
          {matches.value.length > 200 && (
            <li class="dim">{count(matches.value.length - 200)} more matches: say more words.</li>
          )}
        </ol>
      )}
    </search>
  )
}
