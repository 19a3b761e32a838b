import type { Trace } from '../trace.js'
import { toAtif } from './atif.js'
import type { ExportOptions } from './document.js'
import { toHf } from './hf.js'
import { toOtlp } from './otlp.js'
import { toSft } from './sft.js'

const FORMATS = { atif: toAtif, otlp: toOtlp, hf: toHf, sft: toSft }

/** A format of other programs: trajectories of Harbor, spans of OpenTelemetry, sessions of the Hugging Face Hub, chats for fine-tuning. */
export type ExportFormat = keyof typeof FORMATS

/** The names of all formats. */
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[]

/**
 * Writes a run in the format of another program. A damaged run is written up to the damage.
 *
 * @returns The document, in pieces. `sft` gives nothing of a run that did not end `answered`.
 * @example
 * const trace = await openTrace('.delta/20261120_093000_a1b2c3')
 * for await (const piece of exportRun(trace, 'atif')) process.stdout.write(piece)
 */
export function exportRun(
  trace: Trace,
  format: ExportFormat,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  return FORMATS[format](trace, options)
}
