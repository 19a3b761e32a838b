import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import { createHeights, type Heights, visibleRows } from './heights.js'

/** Moves the list from outside. */
export interface ListHandle {
  /** Brings a row into view: at the top, or where it is least far. */
  show(index: number, place?: 'top' | 'nearest'): void
  /** To the end, and on with it when it grows. */
  follow(): void
  readonly isFollowing: boolean
}

interface Properties {
  count: number
  /** The height of a row that was not measured yet. Pixels. */
  guess: number
  row(index: number): ComponentChildren
  /** The list begins at its end and grows with it, until somebody scrolls up. */
  follows?: boolean
  /** The row that is at the top at first, instead of the end. */
  startsAt?: number | undefined
  onRows?(from: number, to: number): void
  onFollow?(isFollowing: boolean): void
  handle?: { current: ListHandle | null }
  class?: string
  role: 'grid' | 'feed' | 'list' | 'rowgroup'
  label: string
  /** Header rows that `aria-rowcount` counts, too. */
  headRows?: number
}

/**
 * A list of which only the rows in view are in the document. Rows may have any height, and may change it: what is in view stays where it
 * is, whatever is measured above it.
 */
export function Windowed(properties: Properties) {
  const {
    count,
    guess,
    row,
    follows = false,
    startsAt,
    onRows,
    onFollow,
    handle,
    role,
    label,
    headRows = 0,
  } = properties
  const box = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const heights = useMemo(() => createHeights(count, guess), [guess])
  const [, redraw] = useReducer((times: number) => times + 1, 0)
  const state = useRef<State>({
    following: follows && startsAt === undefined,
    target: startsAt === undefined ? undefined : { index: startsAt, place: 'top' },
    view: 900,
    top: 0,
  })
  if (heights.count !== count) heights.resize(count)

  const { from, to } = windowOf(heights, state.current)
  useEffect(() => onRows?.(from, to), [from, to, count])

  useLayoutEffect(() => {
    if (measure(body.current, heights, box.current, state.current)) redraw(undefined)
  })

  useEffect(() => {
    const element = box.current as HTMLDivElement
    const observer = new ResizeObserver(() => {
      state.current.view = element.clientHeight
      redraw(undefined)
    })
    observer.observe(element)
    observer.observe(body.current as HTMLDivElement)
    return () => observer.disconnect()
  }, [])

  function setFollowing(isFollowing: boolean): void {
    if (state.current.following === isFollowing) return
    state.current.following = isFollowing
    onFollow?.(isFollowing)
  }

  if (handle)
    handle.current = {
      show(index, place = 'nearest') {
        if (place === 'nearest' && state.current.target?.index === index) return // it is on its way there
        setFollowing(false)
        state.current.target = { index, place }
        redraw(undefined)
      },
      follow() {
        state.current.target = undefined
        setFollowing(true)
        redraw(undefined)
      },
      get isFollowing() {
        return state.current.following
      },
    }

  const rows = []
  for (let index = from; index < to; index++)
    rows.push(
      <div key={index} data-row={index} role={role === 'rowgroup' ? 'presentation' : undefined}>
        {row(index)}
      </div>,
    )
  return (
    <div
      ref={box}
      class={`windowed ${properties.class ?? ''}`}
      role={role}
      aria-label={label}
      aria-rowcount={role === 'grid' ? count + headRows : undefined}
      tabIndex={-1}
      onScroll={() => {
        if (!box.current) return // the list has just gone
        const { scrollTop, scrollHeight, clientHeight } = box.current
        const moved = scrollTop - state.current.top
        const wasUp = moved < -1
        if (Math.abs(moved) > 1) state.current.target = undefined // somebody scrolled: this list knows where it put itself
        const isAtEnd = scrollHeight - clientHeight - scrollTop < 24
        state.current.top = scrollTop
        if (follows && isAtEnd && state.current.target === undefined) setFollowing(true)
        else if (wasUp && !isAtEnd) setFollowing(false)
        redraw(undefined)
      }}
    >
      <div role="presentation" style={{ height: `${heights.top(from)}px` }} />
      <div role="presentation" ref={body}>
        {rows}
      </div>
      <div role="presentation" style={{ height: `${Math.max(0, heights.total - heights.top(to))}px` }} />
    </div>
  )
}

interface Target {
  index: number
  place: 'top' | 'nearest'
}

interface State {
  following: boolean
  target: Target | undefined
  view: number
  top: number
}

function windowOf(heights: Heights, { following, target, view, top }: State) {
  if (following) return visibleRows(heights, Math.max(0, heights.total - view), view)
  if (target) return visibleRows(heights, wantedTop(heights, target, view, top), view)
  return visibleRows(heights, top, view)
}

function wantedTop(heights: Heights, { index, place }: Target, view: number, top: number): number {
  const start = heights.top(index)
  if (place === 'top') return start
  const end = start + heights.height(index)
  if (end - start > view || start < top) return start
  return end > top + view ? end - view : top
}

/**
 * Measures the rows in the document and keeps what is in view in its place. @returns True when another pass is needed.
 */
function measure(body: HTMLElement | null, heights: Heights, box: HTMLElement | null, state: State): boolean {
  if (!body || !box) return false
  state.view = box.clientHeight
  const anchor = heights.at(state.top)
  const before = heights.top(anchor)
  let grown = 0
  for (const element of body.children) {
    const index = Number((element as HTMLElement).dataset.row)
    grown += Math.abs(heights.measure(index, element.getBoundingClientRect().height))
  }
  const most = Math.max(0, heights.total - state.view)
  const kept = state.top + heights.top(anchor) - before
  const place = state.target ? wantedTop(heights, state.target, state.view, state.top) : kept
  const wanted = state.following ? most : Math.min(place, most)
  const hasMoved = Math.abs(wanted - box.scrollTop) > 0.5
  if (grown > 0 || hasMoved) {
    // the lower spacer decides how far can be scrolled: it must know the new heights first
    const last = box.lastElementChild as HTMLElement
    const first = box.firstElementChild as HTMLElement
    const shown = body.children
    const from = Number((shown[0] as HTMLElement | undefined)?.dataset.row ?? 0)
    first.style.height = `${heights.top(from)}px`
    last.style.height = `${Math.max(0, heights.total - heights.top(from + shown.length))}px`
    box.scrollTop = wanted
    state.top = box.scrollTop
  }
  return grown > 0 || hasMoved
}
