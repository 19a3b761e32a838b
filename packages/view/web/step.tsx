import { useSignal } from '@preact/signals'
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo } from 'preact/hooks'
import type {
  CallCard,
  ChildCard,
  ErrorCard,
  HookCard,
  Media,
  Question,
  SaidCard,
  StartCard,
  StepCard,
  StepList,
  Text,
} from '../src/api.js'
import { get, getImage } from './client.js'
import { ForkSign } from './fork-sign.js'
import { bytes, clock, duration, money, plural, shortCount, shortId, shortMoney } from './format.js'
import { explain, now } from './state.js'
import { escapeText, oneLine } from './text/marks.js'
import { Diff, Plain, Terminal } from './text/text.js'
import { type DiffLine, diffLines } from './text/unified-diff.js'
import { statusClass } from './words.js'

/** What a step can ask of the page. */
export interface StepActions {
  select(n: number): void
  /** The whole output of a call. */
  output(n: number, actionId: string): void
  files(n: number): void
}

/** Tab goes through what is in the selected step, and from there on to the inspector: j and k select another one. */
const Reach = createContext<0 | -1>(-1)

/** One step in the list. It is drawn anew only when its card, or its being selected, changes. */
export function Step(properties: {
  card: StepCard
  isSelected: boolean
  total: number
  actions: StepActions
}) {
  const { card, isSelected, total, actions } = properties
  return useMemo(
    () => (
      <Reach.Provider value={isSelected ? 0 : -1}>{drawn(card, isSelected, total, actions)}</Reach.Provider>
    ),
    [card, isSelected, total],
  )
}

function drawn(card: StepCard, isSelected: boolean, total: number, actions: StepActions) {
  const { n, inherited, replayed, starts, said, reasoning, thought, calls, errors, hooks, snapshot } = card
  const isCopy = inherited || replayed
  const stepHooks = hooks.filter(({ actionId }) => actionId === null)
  const isBeforeThought = ({ at }: StartCard) => card.thoughtAt === null || at <= card.thoughtAt
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j, k and enter work on the whole page
    <article
      class={`step ${isSelected ? 'selected' : ''} ${isCopy ? 'copied' : ''}`}
      aria-label={`Step ${n}`}
      aria-posinset={n}
      aria-setsize={total}
      aria-current={isSelected ? 'step' : undefined}
      tabIndex={isSelected ? 0 : -1}
      id={`step-${n}`}
      onClick={(event) => {
        if ((event.target as HTMLElement).closest('button, a, summary')) return
        if (getSelection()?.isCollapsed !== false) actions.select(n)
      }}
    >
      <span class="n" title={inherited ? 'inherited from the run of which this one is a fork' : undefined}>
        {n}
        {inherited && <ForkSign />}
      </span>
      <div class="what">
        {starts.filter(isBeforeThought).map((start) => (
          <Start key={start.at} start={start} />
        ))}
        {said.map((each) => (
          <SaidLine key={each.seq} said={each} />
        ))}
        {card.request?.changedFrom && <p class="note">{changeOf(card)}</p>}
        {errors.map((error, index) => (
          <ErrorLine key={index} error={error} />
        ))}
        {reasoning && reasoning.text !== '' && (
          <details class="reasoning">
            <summary tabIndex={isSelected ? 0 : -1}>
              <bdi>{oneLine(reasoning.text.slice(0, 400))}</bdi>
            </summary>
            <p>
              <Plain text={reasoning.text} />
              <Cut text={reasoning} />
            </p>
          </details>
        )}
        {thought && thought.text.trim() !== '' && (
          <div class={card.isAnswer ? 'says answer' : 'says'}>
            {card.isAnswer && <span class="label">Answer</span>}
            <Plain text={thought.text.trim()} />
            <Cut text={thought} />
          </div>
        )}
        {!thought && !errors.some(({ isRecoverable }) => !isRecoverable) && card.request && (
          <p class="note">no answer yet</p>
        )}
        {calls.map((call) => (
          <Call key={call.actionId} call={call} card={card} actions={actions} />
        ))}
        {starts
          .filter((start) => !isBeforeThought(start))
          .map((start) => (
            <Start key={start.at} start={start} />
          ))}
        {stepHooks.map((hook, index) => (
          <Hook key={index} hook={hook} />
        ))}
        {snapshot && !snapshot.isTaken && (
          <p class="note">no snapshot{snapshot.message !== null && `: ${oneLine(snapshot.message)}`}</p>
        )}
        {replayed && !inherited && <p class="note">replayed: its answer was taken from a record</p>}
      </div>
      <span class="ms" title="time of the model">
        {duration(card.modelMs)}
      </span>
      <span class="cost" title={isCopy ? 'it cost nothing here' : money(card.request?.cost)}>
        {isCopy ? '-' : card.request ? shortMoney(card.request.cost) : ''}
      </span>
      {snapshot?.isTaken && snapshot.isChanged && (
        <span class="files">
          <Link open={() => actions.files(n)}>files changed</Link>
        </span>
      )}
    </article>
  )
}

function Link({ open, children }: { open(): void; children: ComponentChildren }) {
  return (
    <button type="button" class="link" tabIndex={useContext(Reach)} onClick={open}>
      {children}
    </button>
  )
}

function changeOf({ request }: StepCard): string {
  const { model, api } = request?.changedFrom ?? {}
  return [
    ...(model !== undefined ? [`model ${oneLine(model)} → ${oneLine(request?.model ?? '')}`] : []),
    ...(api !== undefined ? [`API ${oneLine(api)} → ${oneLine(request?.api ?? '')}`] : []),
  ].join(' · ')
}

/** That a text goes on: all of it is in the inspector. */
function Cut({ text: { text, bytes: size } }: { text: Text }) {
  const shown = new TextEncoder().encode(text).length
  return size > shown ? <span class="dim"> … {bytes(size - shown)} more</span> : null
}

function Start({ start }: { start: StartCard }) {
  const { engine, isResumed, isRetry, pauseMs, after, origin, changes } = start
  if (!isResumed && origin === null && changes.length === 0) return null
  const words = isResumed
    ? [`engine ${engine ?? ''} went on`, after ?? '', pauseMs === null ? '' : `${duration(pauseMs)} later`]
        .filter(Boolean)
        .join(', ')
    : (origin ?? 'started')
  return (
    <p class="resume">
      <b>
        {words.replace(' went on, after', ' went on after')}
        {isRetry && ' with --retry'}
      </b>
      {changes.map((change, index) => (
        <span key={index}>
          {' · '}
          <Plain text={change} />
        </span>
      ))}
    </p>
  )
}

function SaidLine({ said }: { said: SaidCard }) {
  return (
    <div class={`said ${said.role}`}>
      <span class="label">{said.role === 'user' ? 'User' : 'Engine'}</span>
      <div>
        <Plain text={said.text.text.trim()} />
        <Cut text={said.text} />
        <MediaList media={said.media} />
      </div>
    </div>
  )
}

function ErrorLine({ error }: { error: ErrorCard }) {
  const { retry, isRecoverable, message, cost } = error
  const words = retry
    ? [retry.status ?? '', retry.waitedMs === null ? '' : `waited ${duration(retry.waitedMs)}`]
        .filter(Boolean)
        .join(', ')
    : ''
  return (
    <p
      class={isRecoverable ? 'note cut' : 'note bad'}
      title={isRecoverable ? escapeText(message) : undefined}
    >
      {retry && isRecoverable ? `retried${words && ` (${words})`}: ` : isRecoverable ? '' : 'failed: '}
      <Plain text={message} />
      {cost !== null && cost > 0 && ` · paid ${shortMoney(cost)}`}
    </p>
  )
}

function Hook({ hook }: { hook: HookCard }) {
  const { name, status, durationMs, message } = hook
  const isBad = !/^(SUCCESS|SKIPPED|OK)$/i.test(status)
  return (
    <p class={isBad ? 'note bad' : 'note'}>
      hook {oneLine(name)} {status.toLowerCase()}
      {durationMs !== null && ` ${duration(durationMs)}`}
      {message !== null && (
        <>
          : <Plain text={message} />
        </>
      )}
    </p>
  )
}

function Call({ call, card, actions }: { call: CallCard; card: StepCard; actions: StepActions }) {
  const { tool, status, statusWords, durationMs, output, asked } = call
  const isBad = status !== 'success' && status !== 'running' && status !== 'pending'
  const edit = editIn(call)
  const isWaiting =
    asked !== undefined && asked.answer === undefined && (status === 'running' || status === 'pending')
  const hasGlimpse = !isBad && asked?.kind !== 'question' && !edit && linesOf(output).length > 0
  const open = () => actions.output(card.n, call.actionId)
  const tooltip = call.command ? escapeText(call.command.text) : 'It did not start.'
  return (
    <div class="call-group">
      {asked && asked.kind === 'approval' && <Asked question={asked} />}
      <div class="call" title={tooltip}>
        <span class={`asks ${hasGlimpse ? '' : 'wide'}`}>
          <b>{oneLine(tool)}</b>
          <Arguments text={call.arguments.text} isEdit={edit !== undefined} />
        </span>
        {hasGlimpse && <Glimpse output={output} open={open} />}
        <span class={`exit ${isBad ? 'bad' : ''}`}>
          {status === 'running' || status === 'pending' ? '' : exitOf(call)}
        </span>
        <span class={`took ${isBad ? 'bad' : ''}`}>
          {isWaiting ? (
            <span class="waits">waits</span>
          ) : status === 'running' ? (
            <Running since={call.startedAt} />
          ) : status === 'pending' ? (
            'pending'
          ) : (
            duration(durationMs)
          )}
        </span>
      </div>
      {isBad && statusWords !== null && statusWords !== status && linesOf(output).length === 0 && (
        <p class="note bad">{oneLine(statusWords)}</p>
      )}
      {edit && <EditOf lines={edit} />}
      {asked && asked.kind === 'question' && <Asked question={asked} isSaid={call.arguments.text} />}
      {isBad && <Output call={call} open={open} />}
      {call.isOverridden && <p class="note">a hook put this result in place of the tool's</p>}
      <MediaList media={call.media} />
      {card.hooks
        .filter(({ actionId }) => actionId === call.actionId)
        .map((hook, index) => (
          <Hook key={index} hook={hook} />
        ))}
      {call.children.map((child) => (
        <Child key={child.runId} child={child} actions={actions} />
      ))}
    </div>
  )
}

/** How a call ended, if not well: in a word, or by its exit code. */
export function exitOf({ status, exitCode, statusWords }: CallCard): string {
  if (exitCode) return `exit ${exitCode}`
  if (status === 'success') return ''
  return statusWords?.startsWith('refused') ? 'refused' : status
}

function Running({ since }: { since: number | null }) {
  return (
    <span class="runs">
      <i class="dot" /> {since === null ? 'running' : clock(now.value - since)}
    </span>
  )
}

/** The arguments on one line: of a command that command, of JSON its names, dim, and values. */
export function Arguments({ text, isEdit = false }: { text: string; isEdit?: boolean }) {
  const pairs = pairsIn(text)?.filter(([name]) => !isEdit || !/^(old|new)/.test(name))
  if (!pairs) return <code class="arguments">{oneLine(text)}</code>
  return (
    <code class="arguments">
      {pairs.map(([name, value]) => (
        <span key={name}>
          <span class="name">{oneLine(name)} </span>
          {oneLine(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 300)}{' '}
        </span>
      ))}
    </code>
  )
}

function pairsIn(text: string): [string, unknown][] | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return Object.entries(JSON.parse(text) as object)
  } catch {
    return undefined // it was cut, or the model wrote no JSON
  }
}

/** An edit names what it replaces: `old…` and `new…` among the arguments are shown as a difference. */
function editIn(call: CallCard): DiffLine[] | undefined {
  const pairs = pairsIn(call.arguments.text)
  const old = pairs?.find(([name, value]) => /^old/.test(name) && typeof value === 'string')
  const fresh =
    old && pairs?.find(([name, value]) => name === old[0].replace(/^old/, 'new') && typeof value === 'string')
  if (!old || !fresh) return undefined
  const lines = diffLines(String(old[1]), String(fresh[1]), 1)
  return lines.at(-1)?.text === '' ? lines.slice(0, -1) : lines // what follows the last newline is not a line
}

function EditOf({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <div class="output">
      <Diff lines={lines.slice(0, 8)} />
      {lines.length > 8 && <p class="note">… {plural(lines.length - 8, 'line')}</p>}
    </div>
  )
}

/** The first line of what a call printed that went well, and how many more there are. */
function Glimpse({ output, open }: { output: CallCard['output']; open(): void }) {
  const lines = linesOf(output)
  if (lines[0] === '[stderr]' && lines.length > 1) lines.shift()
  const [first = ''] = lines
  const more = lines.length - 1 + output.omittedLines
  return (
    <span class="glimpse">
      <code>
        <Terminal text={first.trim()} />
      </code>
      {more > 0 && <Link open={open}>… {plural(more, 'line')}</Link>}
    </span>
  )
}

function linesOf({ first, last }: CallCard['output']): string[] {
  const lines = [...first, ...last]
  while (lines.length > 0 && lines.at(-1)?.trim() === '') lines.pop()
  return lines
}

/** Lines at the beginning and at the end that are shown of a call that did not go well: a list of forty steps stays one to look over. */
const [HEAD, TAIL] = [1, 3]

function Output({ call, open }: { call: CallCard; open(): void }) {
  const { output, exitCode } = call
  const lines = linesOf(output)
  if (lines[0] === `[exit code ${exitCode}]`) lines.shift() // it stands in the line above
  if (lines[0] === '[stderr]' && lines.length > 1) lines.shift()
  if (lines.length === 0) return null
  const isWhole = output.omittedLines === 0 && lines.length <= HEAD + TAIL + 1
  const [head, tail] = isWhole ? [lines, []] : [lines.slice(0, HEAD), lines.slice(-TAIL)]
  const hidden = lines.length + output.omittedLines - head.length - tail.length
  return (
    <div class="output">
      {hidden > 0 && <Link open={open}>… {plural(hidden, 'line')}</Link>}
      <pre>
        <Terminal text={head.join('\n')} />
      </pre>
      {tail.length > 0 && (
        <pre>
          <Terminal text={tail.join('\n')} />
        </pre>
      )}
    </div>
  )
}

/** A question to a person. @param properties.isSaid - A text above it, which is not repeated. */
function Asked({ question, isSaid }: { question: Question; isSaid?: string }) {
  const { kind, prompt, reasons, answer } = question
  const others = reasons.filter((reason) => !prompt.includes(reason))
  return (
    <div class="asked">
      <span class="label">
        {kind === 'approval' ? 'Approval' : prompt === isSaid ? 'Answer' : 'Question'}
      </span>
      <div>
        {prompt !== isSaid && (
          <p>
            <Plain text={prompt} />
            {others.length > 0 && <span class="dim"> {others.map(oneLine).join('; ')}</span>}
          </p>
        )}
        {answer ? (
          <p>
            <span class="dim">{duration(answer.at - question.at)} later: </span>
            <Plain text={answer.text} />
          </p>
        ) : (
          <p class="waits">waits for a person</p>
        )}
      </div>
    </div>
  )
}

function MediaList({ media }: { media: readonly Media[] }) {
  if (media.length === 0) return null
  return (
    <ul class="media">
      {media.map((each, index) => (
        <li key={index}>
          <Picture media={each} />
          <span class="dim">
            {oneLine(each.name ?? each.type)} {oneLine(each.mediaType)} {bytes(each.bytes)}
            {each.width !== undefined && ` ${each.width} × ${each.height}`}
          </span>
        </li>
      ))}
    </ul>
  )
}

const SHOWN = /^image\/(png|jpeg|webp|gif)$/

/** A picture that cannot be had is a line with its name. */
function ignore(): void {}

/** An image comes with the token, so it is fetched, and shown from memory. */
function Picture({ media }: { media: Media }) {
  const url = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (media.path && SHOWN.test(media.mediaType))
      getImage(media.path, media.mediaType).then((uri) => {
        url.value = uri
      }, ignore)
  }, [media.path])
  return url.value === undefined ? null : <img src={url.value} alt={oneLine(media.name ?? 'image')} />
}

/** A sub-agent: a line with its sums, which opens in place. */
function Child({ child, actions }: { child: ChildCard; actions: StepActions }) {
  const isOpen = useSignal(false)
  const reach = useContext(Reach)
  const words = child.isGone
    ? 'gone'
    : child.reasonCode && child.status !== 'COMPLETED'
      ? child.reasonCode
      : (child.status ?? '').toLowerCase()
  return (
    <div class="child">
      <p class="child-line">
        <button
          type="button"
          class="fold"
          tabIndex={reach}
          disabled={!child.key}
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? '▾' : '▸'} {oneLine(child.agent ?? 'sub-agent')}
        </button>
        {child.key ? (
          <a class="mono" tabIndex={reach} href={`#/run/${encodeURIComponent(child.key)}`}>
            {oneLine(shortId(child.runId))}
          </a>
        ) : (
          <span class="mono dim">{oneLine(shortId(child.runId))}</span>
        )}
        <span class={statusClass(child.status)}>{oneLine(words)}</span>
        <span class="dim">
          {[
            child.steps === null ? '' : plural(child.steps, 'step'),
            child.tokens === null ? '' : `${shortCount(child.tokens)} tokens`,
            child.cost === null ? '' : shortMoney(child.cost),
            child.wallMs === null ? '' : clock(child.wallMs),
          ]
            .filter(Boolean)
            .join(' · ')}
          {child.wentOn && ' · went on after this call'}
        </span>
      </p>
      {isOpen.value && child.key && <ChildSteps runKey={child.key} actions={actions} />}
    </div>
  )
}

function ChildSteps({ runKey, actions }: { runKey: string; actions: StepActions }) {
  const list = useSignal<StepList | undefined>(undefined)
  const problem = useSignal('')
  const load = (after: number) =>
    get<StepList>(`/api/runs/${encodeURIComponent(runKey)}/steps?after=${after}`).then(
      (more) => {
        list.value = { ...more, steps: [...(list.value?.steps ?? []), ...more.steps] }
      },
      (error) => {
        problem.value = explain(error)
      },
    )
  useEffect(() => {
    load(0)
  }, [runKey])
  if (problem.value !== '') return <p class="note bad">{problem.value}</p>
  if (!list.value) return <p class="note">Reading …</p>
  const { steps, hasAfter } = list.value
  const inChild: StepActions = {
    ...actions,
    select: (n) => location.assign(`#/run/${encodeURIComponent(runKey)}/step/${n}`),
    output: (n, actionId) =>
      location.assign(
        `#/run/${encodeURIComponent(runKey)}/step/${n}?tab=output&call=${encodeURIComponent(actionId)}`,
      ),
    files: (n) => location.assign(`#/run/${encodeURIComponent(runKey)}/step/${n}?tab=files`),
  }
  return (
    <div class="child-steps">
      {steps.map((card) => (
        <Step key={card.n} card={card} isSelected={false} total={steps.length} actions={inChild} />
      ))}
      {steps.length === 0 && <p class="note">It has no steps.</p>}
      {hasAfter && <Link open={() => load(steps.at(-1)?.n ?? 0)}>more steps</Link>}
    </div>
  )
}
