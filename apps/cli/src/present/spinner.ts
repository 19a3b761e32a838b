import { inColumns } from './columns.js'
import { duration } from './duration.js'
import { printable } from './printable.js'
import type { Style } from './style.js'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** Most waits are shorter, and a line that only flickers says nothing. */
const PATIENCE_MS = 600
export const ERASE_LINE = '\r\u001b[K'

export interface Spinner {
  /** Shows, after a moment, what is being waited for, and for how long. Replaces an earlier label. */
  start(label: string): void
  /** Stops, and leaves the line empty. */
  stop(): void
}

/** One animated line at the end of a terminal's output. Stop it before writing anything else there. */
export function createSpinner(stream: NodeJS.WriteStream, style: Style): Spinner {
  let timer: NodeJS.Timeout | undefined
  let visible = false

  function stop(): void {
    clearInterval(timer)
    if (visible) stream.write(ERASE_LINE)
    visible = false
  }

  return {
    stop,
    start(label) {
      stop()
      const began = performance.now()
      let frame = 0
      timer = setInterval(() => {
        const waited = performance.now() - began
        if (waited < PATIENCE_MS) return
        visible = true
        const mark = FRAMES[frame++ % FRAMES.length] ?? ''
        const text = fitted([mark, printable(label), duration(waited)], (stream.columns || 80) - 1)
        stream.write(`${ERASE_LINE}${style.dim(text)}`)
      }, FRAME_MS)
      timer.unref()
    },
  }
}

/** On a narrow terminal the label is cut, not the time: a person wants to see that it is still running. */
function fitted([mark, label, time]: readonly [string, string, string], columns: number): string {
  const room = columns - mark.length - time.length - 2
  return `${mark} ${inColumns(label, Math.max(1, room))} ${time}`.slice(0, Math.max(1, columns))
}
