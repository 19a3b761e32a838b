import type { Question, RunResult } from '@delta/engine'
import type { Terminal } from '../terminal/terminal.js'
import type { Presenter } from './presenter.js'
import { print } from './print.js'

/** stdout gets one JSON object at the end. If it has no answer, or a doubtful one, stderr says why and how to go on. */
export function jsonPresenter(progress: Presenter, terminal: Terminal): Presenter {
  return {
    ...progress,
    finish(result) {
      print(terminal, `${JSON.stringify(resultObject(result))}\n`)
      progress.finish(result, true)
    },
  }
}

/** stdout gets the answer byte for byte, without a newline of ours. */
export function rawPresenter(progress: Presenter, terminal: Terminal): Presenter {
  return {
    ...progress,
    finish(result) {
      if (result.answer !== undefined) print(terminal, result.answer)
      progress.finish(result, true)
    },
  }
}

/** stdout gets each journal line as it is written; the first names the run. Notices still go to stderr. */
export function streamJsonPresenter(progress: Presenter, terminal: Terminal): Presenter {
  return {
    ...progress,
    wantsStream: false,
    show(event) {
      if (event.kind === 'journal') print(terminal, `${JSON.stringify(event.event)}\n`)
      else progress.show(event)
    },
    finish() {
      // the ENGINE_END line has said it
    },
  }
}

function resultObject(result: RunResult): object {
  return {
    run_id: result.runId,
    run_directory: result.runDirectory,
    status: result.status,
    answer: result.answer ?? null,
    partial_answer: result.partialAnswer ?? null,
    reason: result.reason ?? null,
    reason_code: result.reasonCode,
    question: result.question ? questionObject(result.question) : null,
    iterations: result.iterations,
    usage: result.usage,
  }
}

/** As the journal names it. */
function questionObject({ requestId, inputType, prompt, ...rest }: Question): object {
  return { request_id: requestId, prompt, input_type: inputType, ...rest }
}
