import { useEffect } from 'preact/hooks'
import { isHelpOpen, switchTheme } from './state.js'

/** What a screen does at a key. A screen without one of them does nothing there. */
export interface Actions {
  next?(): unknown
  previous?(): unknown
  nextFailure?(): unknown
  previousFailure?(): unknown
  first?(): unknown
  last?(): unknown
  open?(): unknown
  back?(): unknown
  tab?(number: number): unknown
  search?(): unknown
  whole?(): unknown
  cost?(): unknown
  mark?(): unknown
  compare?(): unknown
  fold?(): unknown
  copy?(): unknown
}

/** The list of keys, as `?` shows it. */
export const KEYS: readonly [keys: string, what: string][] = [
  ['j k', 'next or previous run or step'],
  ['J K', 'next or previous failure'],
  ['g G', 'first; last, and follow it'],
  ['enter', 'open'],
  ['esc', 'back'],
  ['1 … 6', 'context, request, response, files, output, journal'],
  ['/', 'filter runs; search in this run (a number goes to that step)'],
  ['o', 'whole output of a call'],
  ['c', 'cost'],
  ['x', 'mark a run (two of them)'],
  ['d', 'compare the marked runs'],
  ['space', 'sub-agents: show or fold'],
  ['y', 'copy the delta command for what is shown'],
  ['t', 'light or dark'],
  ['?', 'this list'],
]

const ACTION_OF: Record<string, (actions: Actions) => unknown> = {
  j: (actions) => actions.next?.(),
  ArrowDown: (actions) => actions.next?.(),
  k: (actions) => actions.previous?.(),
  ArrowUp: (actions) => actions.previous?.(),
  J: (actions) => actions.nextFailure?.(),
  K: (actions) => actions.previousFailure?.(),
  g: (actions) => actions.first?.(),
  G: (actions) => actions.last?.(),
  Enter: (actions) => actions.open?.(),
  Escape: (actions) => actions.back?.(),
  '/': (actions) => actions.search?.(),
  o: (actions) => actions.whole?.(),
  c: (actions) => actions.cost?.(),
  x: (actions) => actions.mark?.(),
  d: (actions) => actions.compare?.(),
  ' ': (actions) => actions.fold?.(),
  y: (actions) => actions.copy?.(),
  t: switchTheme,
  '?': () => {
    isHelpOpen.value = !isHelpOpen.value
  },
}

let current: Actions = {}

/** The keys work on the whole page, for the screen that is shown. */
export function useActions(actions: Actions): void {
  current = actions
  useEffect(
    () => () => {
      if (current === actions) current = {}
    },
    [],
  )
}

export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
    if (target.closest('input, textarea, select')) return
    if (isHelpOpen.value && event.key === 'Escape') {
      isHelpOpen.value = false
      return
    }
    // what has the focus answers to these itself
    if ((event.key === 'Enter' || event.key === ' ') && target.closest('a, button, summary')) return
    if (/^Arrow/.test(event.key) && target.closest('[role=slider], [role=tablist], .scrolls')) return
    const act = /^[1-6]$/.test(event.key)
      ? (actions: Actions) => actions.tab?.(Number(event.key) - 1)
      : ACTION_OF[event.key]
    if (act === undefined) return
    event.preventDefault()
    act(current)
  })
}
