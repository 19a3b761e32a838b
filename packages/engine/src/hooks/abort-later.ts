/** A signal that is aborted `ms` after another; `clear` forgets both. */
export function abortLater(signal: AbortSignal, ms: number): { signal: AbortSignal; clear: () => void } {
  if (ms === 0) return { signal, clear: () => undefined }
  const later = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => later.abort(signal.reason), ms)
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  const clear = (): void => {
    signal.removeEventListener('abort', begin)
    clearTimeout(timer)
  }
  return { signal: later.signal, clear }
}
