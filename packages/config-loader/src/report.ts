import type { Problem } from '@delta/executor'
import { fitShape, formatPath, nearestNames, type ShapeProblem, type ValuePath } from '@delta/settings'
import type * as z from 'zod/mini'
import type { Findings } from './problems.js'
import { isMap, parsePath, type YamlFile } from './yaml.js'

/** What a parser found about a value of a file. */
export interface Found extends Omit<Problem, 'path'> {
  /** In the value that was read: keys and indexes, or as other packages write it, as in `parameters[1].inject_as`. */
  path: ValuePath | string
  /** The key is wrong, and its value may be secret. */
  misplacedKey?: true
}

/** A value of a file that is being read, and where its problems go. */
export interface Spot {
  file: YamlFile
  path: ValuePath
  findings: Findings
}

/** A place inside of another one. */
export function inside(spot: Spot, ...steps: ValuePath): Spot {
  return { ...spot, path: [...spot.path, ...steps] }
}

/** The same place, where unknown keys are errors. */
export function strictly(spot: Spot): Spot {
  return { ...spot, findings: { ...spot.findings, unknownKey: spot.findings.error } }
}

/** Reports what is wrong with the value, in a sentence that begins with its path. */
export function wrong({ file, path, findings }: Spot, message: string, hint?: string): void {
  findings.error(file.locate(path), sentenceOf({ file, path }, message), hint)
}

/** Reports what a parser found about the value. */
export function report(problems: readonly Found[], spot: Spot, add = spot.findings.error): void {
  const { file, findings } = spot
  for (const { path: inner, message, hint, unknownKey, nearest, misplacedKey, ...at } of problems) {
    const path = [...spot.path, ...(typeof inner === 'string' ? parsePath(inner) : inner)]
    const place = file.locate(path, { ...at, key: unknownKey ?? misplacedKey ?? false })
    // Without a key of its first level, a file would be half an agent: one without tools, for instance.
    const isMistyped = nearest !== undefined && path.length === 1
    if (unknownKey)
      (isMistyped ? findings.error : findings.unknownKey)(
        place,
        sentenceOf({ file, path: path.slice(0, -1) }, message),
        hint,
      )
    else add(place, sentenceOf({ file, path }, message), hint)
  }
}

/** Reports an unknown name at its key; `otherwise` is the hint if no known name is near. */
export function reportUnknownName(
  { file, path, findings }: Spot,
  message: string,
  { known, otherwise }: { known: readonly string[]; otherwise: string },
): void {
  const [nearest] = nearestNames(String(path.at(-1)), known)
  const hint = nearest === undefined ? otherwise : `Did you mean "${nearest}"?`
  findings.error(file.locate(path, { key: true }), message, hint)
}

/** A message as a sentence that begins with its path: `llm.model: must be a string, got 5.` */
export function sentence(path: ValuePath, message: string): string {
  const place = formatPath(path)
  const ended = /[.!?:]$/.test(message) ? message : `${message}.`
  return place === '' ? ended : `${place}: ${ended}`
}

/** The same for a value of a file. */
export function sentenceOf({ file, path }: Omit<Spot, 'findings'>, message: string): string {
  return sentence([...(file.base ?? []), ...path], message)
}

/** A map without its wrong keys, to find the mistakes in the rest of it. Never for use. */
export function withoutFaults<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  problems: readonly ShapeProblem[],
  missing: Record<string, unknown> = {},
): T | undefined {
  if (!isMap(value)) return undefined
  const rest = Object.entries(value).filter(([key]) => !problems.some(({ path }) => path[0] === key))
  return fitShape(schema, { ...missing, ...Object.fromEntries(rest) }).value
}
