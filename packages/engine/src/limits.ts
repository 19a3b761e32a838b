import { basename } from 'node:path'
import type { Agent, Limits } from '@delta/config-loader'
import { limitsIn } from '@delta/config-loader/internal'
import { type PriceRow, priceRowsSchema } from '@delta/model/internal'
import { type Books, openBooks } from './books.js'
import { type Failure, raised } from './outcome.js'
import { rootRunOf, Uncountable, type Unlisted } from './tree.js'

/** The runs above a run whose limits of tokens or dollars hold for it, too: their directories, a line each. */
const LIMITED_BY = 'DELTA_LIMITED_BY'

function limitedAbove(host: NodeJS.ProcessEnv): string[] {
  const { DELTA_PARENT_RUN: parent, [LIMITED_BY]: above = '' } = host
  return parent ? above.split('\n').filter((directory) => directory !== '') : []
}

type Limited = Pick<Agent, 'limits'>

/** The variable that tells the commands of a run whose limits hold for them. */
export function limitedBy(
  { directory }: { directory: string },
  agent: Limited,
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const all = [...limitedAbove(host), ...(hasPurse(agent) ? [directory] : [])]
  return { [LIMITED_BY]: all.length > 0 ? all.join('\n') : undefined }
}

function hasPurse({ limits }: Limited): boolean {
  return limits?.tokens !== undefined || limits?.cost !== undefined
}

/** What a run may spend: by its own limits, and by those of the runs above it, which it shares with all runs below them. */
export interface Purse {
  /** The prices of the caller, where a limit above holds: a model may not choose them. */
  readonly prices: readonly PriceRow[] | undefined
  /** Whose `limits.cost` holds: `own`, or the directory of a run above. */
  readonly costLimit: string | undefined
  /**
   * To be called before each request. It is a sum, not an account: of the journals of all these runs, each read on from where it
   * was read last. Nothing is read where no limit holds.
   *
   * @param unlisted - Why those above will not count this run.
   * @returns The end of the run, once a limit is reached, or if what is spent cannot be counted.
   */
  check(run: RunOfPurse, unlisted: Unlisted | undefined): Promise<Failure | undefined>
}

interface RunOfPurse {
  directory: string
  summary(): { lastIteration: number }
}

/** Reads the runs above, if a limit of theirs holds. */
export async function openPurse(agent: Agent, host: NodeJS.ProcessEnv): Promise<Purse> {
  const above = limitedAbove(host)
  const books = openBooks()
  const limitsOf = (directory: string) => limitsIn(books.configOf(directory))
  for (const directory of above) await books.read(directory).catch(leaveToCheck)
  const costLimit = agent.limits?.cost ? 'own' : above.find((each) => limitsOf(each).cost !== undefined)

  async function check(run: RunOfPurse, unlisted: Unlisted | undefined): Promise<Failure | undefined> {
    const limited = hasPurse(agent) ? [...above, run.directory] : above
    if (limited.length === 0) return undefined
    const failed = { status: 'FAILED', iteration: run.summary().lastIteration || 1 } as const
    // its own may not have been read yet
    const limitsFor = (directory: string) =>
      directory === run.directory ? (agent.limits ?? {}) : limitsOf(directory)
    const uncounted = (reason: string): Failure => {
      const isOfCost = limited.some((directory) => limitsFor(directory).cost !== undefined)
      return { ...failed, reasonCode: isOfCost ? 'limit_cost' : 'limit_tokens', reason }
    }
    if (unlisted && above.length > 0) return uncounted(notCounted(unlisted, above))
    try {
      await books.readTree(rootRunOf(run, host), { limited, run: run.directory })
      for (const directory of limited) {
        const [limits, isOwn] = [limitsFor(directory), directory === run.directory]
        const reached = reachedBy(books.spentBy(directory), limits, isOwn ? undefined : basename(directory))
        if (reached) return { ...failed, ...reached, ...(isOwn && raised(reached.reasonCode, limits)) }
      }
      return undefined
    } catch (error) {
      if (!(error instanceof Uncountable)) throw error
      return uncounted(`${error.message} ${NO_LONGER}`)
    }
  }

  const prices = above.length > 0 ? await pricesOf(host.DELTA_PARENT_RUN ?? '', books) : undefined
  return { prices, costLimit, check }
}

/** The prices that a run recorded; none if it cannot be read. */
async function pricesOf(directory: string, books: Books): Promise<readonly PriceRow[]> {
  await books.read(directory).catch(leaveToCheck)
  return priceRowsSchema.safeParse(Object(books.configOf(directory)).prices).data ?? []
}

/** A run that cannot be read now cannot be read by `check` either, which ends the run. */
function leaveToCheck(error: unknown): void {
  if (!(error instanceof Uncountable)) throw error
}

const NO_LONGER = 'What the sub-agents spend can no longer be counted, so all runs of this tree stop.'

function notCounted({ path, why }: Unlisted, above: readonly string[]): string {
  const names = above.map((directory) => basename(directory)).join(' and ')
  return `cannot write ${path} (${why}). This run spends from the limits of ${names} and would not be counted.`
}

type PurseCode = 'limit_cost' | 'limit_tokens'

/** @param owner - The id of the run above whose limits they are; undefined for the run's own. */
function reachedBy(
  { all, below }: ReturnType<Books['spentBy']>,
  { cost, tokens }: Limits,
  owner: string | undefined,
): { reasonCode: PurseCode; reason: string } | undefined {
  const whose = owner === undefined ? '' : `, the limit of run ${owner}`
  const ofThese = (spent: string, verb: string) =>
    below.runs === 0 ? '' : `, ${spent} of ${verb} by ${below.runs} sub-agent${below.runs === 1 ? '' : 's'}`
  if (cost !== undefined && all.unknown) return { reasonCode: 'limit_cost', reason: UNKNOWN[all.unknown] }
  if (cost !== undefined && all.cost >= cost) {
    const reason = `${dollars(all.cost)} of ${dollars(cost)} is spent${whose}${ofThese(dollars(below.cost), 'it')}.`
    return { reasonCode: 'limit_cost', reason }
  }
  if (tokens === undefined || all.tokens < tokens) return undefined
  const reason = `${grouped(all.tokens)} of ${grouped(tokens)} tokens are spent${whose}${ofThese(grouped(below.tokens), 'them')}.`
  return { reasonCode: 'limit_tokens', reason }
}

const UNKNOWN = {
  unreported: 'The provider did not say what the answer cost.',
  unpriced: 'An answer was given by a model without a price, so what is spent is not known.',
}

/** Four significant digits, and at least cents. */
function dollars(amount: number): string {
  const written = String(Number(amount.toPrecision(4)))
  return `$${/\.\d\d|e/.test(written) ? written : Number(written).toFixed(2)}`
}

/** `9,400`. */
function grouped(tokens: number): string {
  return tokens.toLocaleString('en-US')
}
