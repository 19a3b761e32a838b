import { disagree, refuse, type Scan, stop, take } from './scan.js'
import { readPieces, readWord, startWord } from './words.js'

/** Reads the delimiter behind `<<`. The text itself comes after the line. */
export function readDelimiter(scan: Scan, stripTabs: boolean): void {
  const offset = scan.at
  take(scan, /[ \t]*/y)
  const { found, quoted, pieces } = readWord(scan)
  refuse(scan, found, 'the delimiter of a here-document')
  if (!/^[ \t]*[^ \t$`\n]+$/.test(scan.template.slice(offset, scan.at))) stop(scan, offset, 'This delimiter')
  scan.pending.push({ offset, delimiter: pieces.join(''), stripTabs, quoted, found: [] })
}

/** At a newline: steps over it and over the here-documents that begin behind it. */
export function readNewline(scan: Scan): void {
  const line = scan.at
  scan.at += 1
  for (const document of scan.pending.splice(0)) {
    const { offset, delimiter, stripTabs, quoted, interpreter } = document
    if (/(?<!\\)\n/.test(scan.template.slice(offset, line))) {
      disagree(scan, offset, 'a here-document that begins inside quotes or $( )')
    }
    const outer = scan.end
    const { end, next } = bodyOf(scan, delimiter, stripTabs)
    const before = scan.found.length
    scan.end = end
    if (!quoted && scan.template.endsWith('\\\n', end))
      disagree(scan, offset, 'a \\ before the end of a here-document')
    readPieces(scan, startWord(scan), quoted ? 'fixed' : 'document', '')
    document.found = scan.found.slice(before)
    if (interpreter !== undefined) refuse(scan, document.found, `a script for ${interpreter}`)
    scan.end = outer
    scan.at = next
  }
}

/** Where the text of a here-document ends, and where the script goes on. */
function bodyOf(
  { template: text, at, end }: Scan,
  delimiter: string,
  stripTabs: boolean,
): { end: number; next: number } {
  let start = at
  for (const line of text.slice(at, end).split('\n')) {
    const next = Math.min(start + line.length + 1, end)
    if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) return { end: start, next }
    start = next
  }
  return { end, next: end }
}
