import { TAB, type YamlFault } from './fault.js'

/**
 * What is left when one mistake is told once.
 *
 * Of one place the parser's last complaint says most. Where indentation is wrong, all it says of the same key of the outermost
 * map follows from that or is the same again, and the lines of these are named with the first. What stands under other
 * keys was read as it is written, and is told.
 */
export function tellingOnes(
  faults: readonly YamlFault[],
  text: string,
  lineOf: (offset: number) => number,
): YamlFault[] {
  if (faults.length < 2) return [...faults]
  const parts = partsOf(text)
  const broken = new Map<string, { fault: YamlFault; again: Set<number> }>()
  const told: YamlFault[] = []
  for (const fault of onePerPlace(faults, lineOf)) {
    const line = lineOf(fault.shownAt ?? fault.offset)
    const part = `part ${parts[line - 1]}`
    const first = broken.get(fault.structure === TAB ? TAB : part)
    if (first === undefined) told.push(fault)
    else if (fault.structure === undefined && !fault.readsStructure) told.push(fault)
    else if (fault.structure === first.fault.structure) first.again.add(line)
    if (fault.structure === undefined) continue
    const entry = first ?? { fault, again: new Set([line]) }
    if (!broken.has(part)) broken.set(part, entry)
    if (fault.structure === TAB) broken.set(TAB, entry)
  }
  const linesOf = new Map([...broken.values()].map(({ fault, again }) => [fault, [...again].slice(1)]))
  return told.map((fault) => withLines(fault, linesOf.get(fault) ?? []))
}

function onePerPlace(faults: readonly YamlFault[], lineOf: (offset: number) => number): YamlFault[] {
  const told = new Map<string | number, YamlFault>()
  for (const fault of faults) {
    const { offset, followsFrom } = fault
    const key = followsFrom === 'line' ? `line ${lineOf(offset)}` : offset
    const isConsequence =
      followsFrom === 'file' ? told.size > 0 : followsFrom === 'line' ? told.has(key) : isTab(told.get(key))
    if (!isConsequence) told.set(key, fault)
  }
  return [...told.values()]
}

function isTab(fault: YamlFault | undefined): boolean {
  return fault?.structure === TAB
}

/** For each line the line of the outermost key that it stands under. */
function partsOf(text: string): number[] {
  let part = 0
  return text.split('\n').map((line, index) => {
    if (/^[^\s#\-\]}]/.test(line)) part = index
    return part
  })
}

function withLines(fault: YamlFault, lines: readonly number[]): YamlFault {
  if (lines.length === 0) return fault
  const named =
    lines.length > MOST_LINES ? [...lines.slice(0, MOST_LINES), `${lines.length - MOST_LINES} more`] : lines
  const last = named.at(-1)
  const list = named.length === 1 ? `line ${last}` : `lines ${named.slice(0, -1).join(', ')} and ${last}`
  return { ...fault, hint: `${fault.hint ?? ''} The same on ${list}.`.trim() }
}

const MOST_LINES = 5
