import { dirname, resolve } from 'node:path'
import { type PriceRow, priceRowsSchema } from '@delta/model/internal'
import { fitShape } from '@delta/settings'
import { readYaml } from './files.js'
import { invalid } from './load-agent.js'
import { collectFindings } from './problems.js'
import { report, strictly } from './report.js'

/**
 * Reads a file of prices: a list of rows as under `prices:` in `agent.yaml`.
 *
 * @param options.cwd - Where a relative path starts. Default: the process's directory.
 *
 * @throws {ConfigError} `ERR_CONFIG_INVALID`: it is not there or not such a list, with every problem found.
 * @example
 * const prices = readPrices('prices.yaml')
 */
export function readPrices(path: string, { cwd = '' }: { cwd?: string } = {}): readonly PriceRow[] {
  const findings = collectFindings()
  const absolute = resolve(cwd, path)
  const { exists, file } = readYaml(absolute, { home: dirname(absolute), shown: dirname(path) }, findings)
  if (!exists) findings.error({ file: path }, 'The file does not exist.')
  if (file === undefined) throw invalid(findings)
  const { value, problems } = fitShape(priceRowsSchema, file.value)
  report(problems, strictly({ file, path: [], findings }))
  if (findings.problems.length > 0 || value === undefined) throw invalid(findings)
  return value
}
