import * as z from 'zod/mini'

/** When a run keeps the files of its workspace, and which. Absent: never. */
export interface SnapshotSettings {
  /** Patterns of names that are left out. */
  ignore: string[]
  /** How much the snapshots of all runs of a workspace may take together. Bytes. */
  maxBytes: number
  /** How long a command waits for a snapshot under way. Milliseconds. */
  waitMs: number
}

const UNITS: Readonly<Record<string, number>> = { '': 1, kB: 1e3, MB: 1e6, GB: 1e9 }
const SIZE = /^(\d+(?:\.\d+)?)(|kB|MB|GB)$/
const FORMS = 'one of every_iteration, off, or { every: iteration, … }'

const DEFAULTS: SnapshotSettings = { ignore: [], maxBytes: 5e9, waitMs: 200 }

const size = z.unknown().check(
  z.refine((value) => sizeOf(value) !== undefined, {
    error: ({ input }) => `${JSON.stringify(input)} is not a size. Write 500MB or 1GB`,
  }),
  z.meta({ type: ['string', 'integer'], pattern: SIZE.source }),
  z.describe(
    'How much the snapshots of all runs of a workspace may take: bytes, or kB, MB, GB. Default: 5GB',
  ),
) as z.ZodMiniType<unknown, unknown> as z.ZodMiniType<string | number, string | number>

const mapping = z.strictObject({
  every: z.enum(['iteration']).check(z.describe('When: after each iteration that started a command.')),
  ignore: z.optional(
    z
      .array(z.string())
      .check(
        z.describe(
          'Patterns of what is left out, as node_modules or *.log. A fork lacks it. Default: nothing',
        ),
      ),
  ),
  max_bytes: z.optional(size),
  wait_ms: z.optional(
    z
      .int()
      .check(
        z.gte(0),
        z.describe('How long a command waits for a snapshot under way, which is then given up. Default: 200'),
      ),
  ),
})

/** `snapshots` of `agent.yaml`. */
export const snapshotsSchema = z.lazy(() =>
  z
    .union([mapping, z.enum(['every_iteration', 'off'], FORMS)], FORMS)
    .check(z.describe('Whether the files of the workspace are kept, for delta fork. Default: off')),
)

/** The settings of a value that `snapshotsSchema` accepted. Undefined: no snapshots. */
export function snapshotsOf(written: z.infer<typeof snapshotsSchema>): SnapshotSettings | undefined {
  if (written === 'off') return undefined
  if (written === 'every_iteration') return DEFAULTS
  const { ignore, max_bytes, wait_ms } = written
  return {
    ignore: ignore ?? DEFAULTS.ignore,
    maxBytes: sizeOf(max_bytes) ?? DEFAULTS.maxBytes,
    waitMs: wait_ms ?? DEFAULTS.waitMs,
  }
}

function sizeOf(written: unknown): number | undefined {
  const [, count, unit = ''] = SIZE.exec(String(written)) ?? []
  return count === undefined ? undefined : Math.floor(Number(count) * (UNITS[unit] ?? 1))
}
