import { classify, type Ended, type Scored } from '@delta/evals'
import { describe, expect, test } from 'vitest'

const one: Scored = { kind: 'score', score: 1, metrics: {} }
const none: Scored = { kind: 'score', score: 0, metrics: {} }
const nothing: Scored = { kind: 'nothing', metrics: {} }
const broken = (reason: Extract<Scored, { kind: 'broken' }>['reason']): Scored => ({
  kind: 'broken',
  reason,
  detail: 'why',
})
const ended = (status: string, reasonCode: string | null): Ended => ({ run: { status, reasonCode } })
const answered = ended('COMPLETED', 'answered')

/** How it ended, what the scorers said, and the verdict: its state, score and reason. */
const TABLE: [string, Ended, Scored[], string][] = [
  ['an answer that solves the task', answered, [one], 'scored 1 answered'],
  ['an answer that does not', answered, [none], 'scored 0 answered'],
  ['an answer that solves half of it', answered, [{ ...one, score: 0.5 }], 'scored 0.5 answered'],
  ['a score above 1', answered, [{ ...one, score: 17 }], 'scored 17 answered'],
  ['the first scorer counts', answered, [none, one], 'scored 0 answered'],
  ['nothing to score', answered, [nothing], 'unscored-agent null answered'],
  [
    'nothing to score after a limit',
    ended('FAILED', 'limit_tokens'),
    [nothing],
    'unscored-agent null limit_tokens',
  ],
  ['nothing for a second scorer', answered, [one, nothing], 'scored 1 answered'],
  ['an empty answer that was accepted', ended('COMPLETED', 'empty_answer'), [one], 'scored 1 empty_answer'],
  ['an empty answer', ended('FAILED', 'empty_answer'), [none], 'scored 0 empty_answer'],
  [
    'a call that was written as text',
    ended('FAILED', 'unparsed_tool_call'),
    [one],
    'scored 1 unparsed_tool_call',
  ],
  ['a call that was not sent', ended('FAILED', 'missing_tool_call'), [one], 'scored 1 missing_tool_call'],
  ['too many iterations', ended('FAILED', 'limit_iterations'), [one], 'scored 1 limit_iterations'],
  ['too many tokens', ended('FAILED', 'limit_tokens'), [none], 'scored 0 limit_tokens'],
  ['too expensive', ended('FAILED', 'limit_cost'), [none], 'scored 0 limit_cost'],
  ['too slow', ended('FAILED', 'limit_wall_time'), [one], 'scored 1 limit_wall_time'],
  [
    'a conversation that is too long',
    ended('FAILED', 'context_overflow'),
    [none],
    'scored 0 context_overflow',
  ],
  ['a content filter', ended('FAILED', 'content_filter'), [none], 'scored 0 content_filter'],
  ['an answer that was cut off', ended('FAILED', 'cut_off'), [none], 'scored 0 cut_off'],
  ['a refusal', ended('FAILED', 'model_refused'), [none], 'scored 0 model_refused'],
  ['a hook that stopped the run', ended('FAILED', 'hook_stopped'), [none], 'scored 0 hook_stopped'],
  ['a critical tool that failed', ended('FAILED', 'critical_tool'), [none], 'scored 0 critical_tool'],
  ['a question to nobody', ended('WAITING_FOR_INPUT', 'question'), [one], 'scored 1 question'],
  ['a call that waits for nobody', ended('WAITING_FOR_INPUT', 'approval'), [none], 'scored 0 approval'],
  [
    'a provider that is down',
    ended('FAILED', 'provider_unavailable'),
    [one],
    'unscored-infra null provider_unavailable',
  ],
  [
    'a provider that refuses',
    ended('FAILED', 'provider_refused'),
    [],
    'unscored-infra null provider_refused',
  ],
  [
    'an answer that cannot be read',
    ended('FAILED', 'provider_answer'),
    [],
    'unscored-infra null provider_answer',
  ],
  ['a source of the context', ended('FAILED', 'context_source'), [], 'unscored-infra null context_source'],
  ['a replay that differs', ended('FAILED', 'replay_mismatch'), [], 'unscored-infra null replay_mismatch'],
  ['a configuration', ended('FAILED', 'configuration'), [], 'unscored-infra null configuration'],
  ['a bug of the engine', ended('FAILED', 'internal'), [], 'unscored-infra null internal'],
  ['a signal', ended('INTERRUPTED', 'signal'), [], 'unscored-infra null signal'],
  ['a kill', ended('INTERRUPTED', 'killed'), [], 'unscored-infra null killed'],
  ['a code of a later version', ended('FAILED', 'of_tomorrow'), [one], 'unscored-infra null of_tomorrow'],
  ['no code', ended('FAILED', null), [one], 'unscored-infra null unknown'],
  ['a setup that failed', { setup: 'setup exit 1' }, [], 'unscored-infra null setup'],
  ['a run that did not begin', {}, [], 'unscored-infra null not_run'],
  ['a scorer that exits with 2', answered, [broken('scorer_exit')], 'unscored-infra null scorer_exit'],
  ['a scorer that signals end', answered, [broken('scorer_signal')], 'unscored-infra null scorer_signal'],
  ['a scorer that hangs', answered, [broken('scorer_timeout')], 'unscored-infra null scorer_timeout'],
  ['a scorer that says no number', answered, [broken('scorer_result')], 'unscored-infra null scorer_result'],
  [
    'a second scorer that is broken',
    answered,
    [one, broken('scorer_exit')],
    'unscored-infra null scorer_exit',
  ],
  ['no scorer', answered, [], 'unscored-infra null not_scored'],
  ['ten dead workers', { ...answered, deadWorkers: 10 }, [one], 'unscored-infra null workers_died'],
  ['nine dead workers', { ...answered, deadWorkers: 9 }, [one], 'scored 1 answered'],
  ['another workspace', { ...answered, tampered: 'workspace' }, [one], 'invalid null workspace'],
  ['a process that survived', { ...answered, tampered: 'process' }, [one], 'invalid null process'],
  ['a forged result', { ...answered, tampered: 'result' }, [one], 'invalid null result'],
  ['a copy that is too large', { ...answered, tampered: 'copy' }, [], 'invalid null copy'],
  ['other inputs', { ...answered, tampered: 'inputs' }, [one], 'invalid null inputs'],
  ['another journal', { ...answered, tampered: 'journal' }, [one], 'invalid null journal'],
  [
    'tampering comes before the provider',
    { ...ended('FAILED', 'internal'), tampered: 'journal' },
    [],
    'invalid null journal',
  ],
  ['tampering comes before dead workers', { deadWorkers: 10, tampered: 'result' }, [], 'invalid null result'],
  [
    'dead workers come before the setup',
    { deadWorkers: 11, setup: 'no' },
    [],
    'unscored-infra null workers_died',
  ],
  [
    'the provider comes before the scorer',
    ended('FAILED', 'internal'),
    [broken('scorer_exit')],
    'unscored-infra null internal',
  ],
]

describe('how a cell counts', () => {
  test.each(TABLE)('%s', (_, how, scores, wanted) => {
    const { state, score, reason } = classify(how, scores)
    expect(`${state} ${score} ${reason}`).toBe(wanted)
  })
})
