import { useEffect, useState } from 'preact/hooks'
import { explain } from './state.js'

/** What an answer of the server looks like while it is asked for. */
export type Loaded<Value> =
  | { state: 'loading' }
  | { state: 'problem'; problem: string }
  | { state: 'there'; value: Value }

/**
 * Asks for something, and again when `wanted` changes. The answer before stays until the next one is there, so nothing flickers.
 *
 * @param wanted - What is asked for, as a string; `undefined`: nothing.
 */
export function useLoaded<Value>(
  wanted: string | undefined,
  ask: (signal: AbortSignal) => Promise<Value>,
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({ state: 'loading' })
  useEffect(() => {
    if (wanted === undefined) return
    const leaving = new AbortController()
    ask(leaving.signal).then(
      (value) => !leaving.signal.aborted && setLoaded({ state: 'there', value }),
      (error) => !leaving.signal.aborted && setLoaded({ state: 'problem', problem: explain(error) }),
    )
    return () => leaving.abort()
  }, [wanted])
  return loaded
}
