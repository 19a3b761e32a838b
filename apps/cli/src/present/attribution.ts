import type { ActionRequest, ActionResult, HookExecutionAudit, JournalEvent } from '@delta/journal'
import { callLine, type ShownTools } from './command-line.js'
import { isAnswer, isQuestion } from './describe-call.js'
import { printable, printableLine } from './printable.js'

/** How much of a command is repeated above its result. */
const REPEATED_CHARACTERS = 100

/** Names the command above a result that does not directly follow it. Needs to see every event of a run, in order. */
export interface Attribution {
  /** The command to repeat above this event; usually none. */
  above(event: JournalEvent, known: ShownTools): string | undefined
  /** Notes a call that was shown earlier, and whose result is still to come. */
  remember(request: ActionRequest, known: ShownTools): void
}

/**
 * A result does not directly follow its command when calls ran side by side, or when the run was interrupted in between. Nor
 * does a hook's replacement always follow the result that it replaces.
 */
export function attribution({ verbose }: { verbose: boolean }): Attribution {
  /** The calls without a result: what to repeat of each, by its `action_id`. */
  const open = new Map<string, string>()
  /** The same for the calls of this cycle that have a result, in the order of their results. */
  const ended = new Map<string, string>()
  /** The call whose result would directly follow its command now. */
  let last: string | undefined

  function aboveResult(result: ActionResult): string | undefined {
    const { action_id: id, tool_name: name } = result
    const said = open.get(id) ?? printableLine(name)
    const isInPlace = last === id || isAnswer(result)
    open.delete(id)
    ended.delete(id)
    ended.set(id, said)
    last = undefined
    return isInPlace ? undefined : said
  }

  function aboveReplacement(hook: HookExecutionAudit): string | undefined {
    const { action_id: id, observation_override: text } = hook
    if (typeof text !== 'string' || typeof id !== 'string' || [...ended.keys()].at(-1) === id)
      return undefined
    return ended.get(id) ?? printableLine(id)
  }

  return {
    above(event, known) {
      if (event.type === 'ACTION_RESULT') return aboveResult(event)
      if (event.type === 'HOOK_EXECUTION_AUDIT') return aboveReplacement(event)
      if (event.type === 'ACTION_REQUEST') {
        last = isQuestion(event) ? undefined : event.action_id // a question shows no command
        open.set(event.action_id, repeated(event, known, verbose))
      }
      if (event.type === 'THOUGHT') ended.clear()
      if (event.type === 'THOUGHT' || event.type === 'ENGINE_START') last = undefined
      return undefined
    },
    remember: (request, known) => void open.set(request.action_id, repeated(request, known, verbose)),
  }
}

function repeated(request: ActionRequest, known: ShownTools, verbose: boolean): string {
  const [line = '', ...rest] = printable(callLine(request, known, verbose)).split('\n')
  const isCut = rest.length > 0 || line.length > REPEATED_CHARACTERS
  return `${line.slice(0, REPEATED_CHARACTERS)}${isCut ? ' …' : ''}`
}
