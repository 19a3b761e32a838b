import './tokens.css'
import './view.css'
import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { FileHead, RunRow } from '../src/api.js'
import { takeToken } from './client.js'
import { Compare } from './compare.js'
import { file } from './file.js'
import { plural, runName } from './format.js'
import { KEYS, listenToKeys } from './keys.js'
import { Run } from './run.js'
import { Runs } from './runs.js'
import { address, followAddressBar, isHelpOpen, notice, watchRuns } from './state.js'
import { oneLine } from './text/marks.js'

function Page() {
  return (
    <>
      <Screen />
      {file && <p class="file-note">{whatIsInFile(file.head)}</p>}
      <p class={notice.value === '' ? 'notice' : 'notice shown'} role="status">
        {notice.value}
      </p>
      {isHelpOpen.value && <Help />}
    </>
  )
}

/** What an exported file holds, and what it lacks. */
function whatIsInFile({ at, runs, named, isWhole }: FileHead): string {
  const going = runs.filter(({ status }) => status === 'RUNNING').length
  const children = runs.length - named.length
  const held = [plural(named.length, 'run'), ...(children > 0 ? [plural(children, 'sub-agent')] : [])]
  return [
    `This file holds ${held.join(' and ')} as of ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    ...(going > 0
      ? [`${going === 1 ? 'One was' : `${going} were`} still going on: what came later is not in it.`]
      : []),
    ...(isWhole ? [] : ['Of a longer text it has the first 16 KiB.']),
    ...comparisonsIn(runs, named),
  ].join(' ')
}

function comparisonsIn(runs: readonly RunRow[], named: readonly string[]): string[] {
  const rows = named.flatMap((key) => runs.find((row) => row.key === key) ?? [])
  const [first, ...others] = rows
  if (!first || others.length < 2) return []
  const hasForks = others.some(({ forkOf }) => forkOf?.key !== undefined && forkOf.key !== first.key)
  const forks = hasForks ? ', and forks with the runs they were made from' : ''
  return [`It compares ${oneLine(runName(first))} with each of the others${forks}.`]
}

function Screen() {
  const at = address.value
  if (at.screen === 'run') return <Run key={at.key} at={at} />
  if (at.screen === 'diff') return <Compare key={`${at.a} ${at.b}`} a={at.a} b={at.b} />
  return <Runs />
}

/** The list of keys. */
function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      aria-label="Keys"
      onClose={() => {
        isHelpOpen.value = false
      }}
      onClick={(event) => event.target === event.currentTarget && event.currentTarget.close()}
    >
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => (key === '…' ? ' … ' : <kbd key={key}>{key}</kbd>))}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  )
}

takeToken()
if (file && location.hash === '' && file.head.named.length === 1)
  history.replaceState(null, '', `#/run/${file.head.named[0]}`)
followAddressBar()
listenToKeys()
watchRuns()
render(<Page />, document.getElementById('app') as HTMLElement)
