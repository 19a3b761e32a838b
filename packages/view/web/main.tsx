import './tokens.css'
import './view.css'
import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { takeToken } from './client.js'
import { Compare } from './compare.js'
import { KEYS, listenToKeys } from './keys.js'
import { Run } from './run.js'
import { Runs } from './runs.js'
import { address, followAddressBar, isHelpOpen, notice, watchRuns } from './state.js'

function Page() {
  return (
    <>
      <Screen />
      <p class={notice.value === '' ? 'notice' : 'notice shown'} role="status">
        {notice.value}
      </p>
      {isHelpOpen.value && <Help />}
    </>
  )
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
followAddressBar()
listenToKeys()
watchRuns()
render(<Page />, document.getElementById('app') as HTMLElement)
