import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { namesIn } from '@delta/durable/internal'

/**
 * The run directory of a cell that was named as `<evaluation>/cells/<cell>` or `<evaluation>/<variant>/<task>/<repeat>`: of the
 * attempt that counts, else of the newest. Undefined for any other path.
 */
export function runOfCell(path: string): string | undefined {
  const cell = existsSync(join(path, 'cell.json')) ? path : cellNamed(path)
  if (cell === undefined) return undefined
  const attempt = attemptThatCounts(cell) ?? Math.max(1, ...namesIn(cell).filter(isNumber).map(Number))
  return join(cell, String(attempt), 'runs', `${basename(cell)}-${attempt}`)
}

function cellNamed(path: string): string | undefined {
  const evaluation = dirname(dirname(dirname(path)))
  const manifest = join(evaluation, 'manifest.jsonl')
  if (!existsSync(manifest)) return undefined
  const name = path.slice(evaluation.length + 1)
  for (const line of readFileSync(manifest, 'utf8').split('\n').filter(Boolean)) {
    const { cell, variant, task, repeat } = JSON.parse(line) as Record<string, string>
    if (`${variant}/${task}/${repeat}` === name) return join(evaluation, 'cells', cell ?? '')
  }
  return undefined
}

function attemptThatCounts(cell: string): number | undefined {
  const result = join(cell, 'result.json')
  return existsSync(result)
    ? (JSON.parse(readFileSync(result, 'utf8')) as { attempt: number }).attempt
    : undefined
}

function isNumber(name: string): boolean {
  return /^[1-9]\d*$/.test(name)
}
