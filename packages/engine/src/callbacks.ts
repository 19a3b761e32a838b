import type { EngineOptions } from './start/options.js'

export interface Callbacks extends Pick<EngineOptions, 'ask'> {
  onEvent: NonNullable<EngineOptions['onEvent']>
}

/**
 * An `onEvent` and an `ask` that never throw, because neither may end a run. The first error of each becomes a warning of
 * Node.js with the code `DELTA_CALLBACK`. An `ask` that throws leaves its question open, as the end of input does.
 */
export function guardCallbacks({ onEvent, ask, signal }: EngineOptions): Callbacks {
  const reported = new Set<string>()
  function report(name: string, thrown: unknown): undefined {
    if (reported.has(name) || signal?.aborted) return // a stop also ends whoever waits for a person
    reported.add(name)
    const said = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
    process.emitWarning(`The option ${name} threw, and the run goes on: ${said}`, { code: 'DELTA_CALLBACK' })
  }

  return {
    onEvent(event) {
      try {
        onEvent?.(event)
      } catch (error) {
        report('onEvent', error)
      }
    },
    ask:
      ask &&
      (async (question) => {
        try {
          return await ask(question)
        } catch (error) {
          return report('ask', error)
        }
      }),
  }
}
