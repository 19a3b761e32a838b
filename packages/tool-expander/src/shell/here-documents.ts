import { disagree, type HereDocument, refuse, type Scan, stop, take } from './scan.js'
import { readPieces, readWord, startWord } from './words.js'

/** Reads the delimiter behind `<<`. The text itself comes after the line. */
export function readDelimiter(scan: Scan, stripTabs: boolean): void {
  const offset = scan.at
  take(scan, /[ \t]*/y)
  const { found, quoted, pieces } = readWord(scan)
  refuse(scan, found, 'the delimiter of a here-document')
  if (!/^[ \t]*[^ \t$`\n(]+$/.test(scan.template.slice(offset, scan.at))) stop(scan, offset, 'This delimiter')
  const { inFunction } = scan
  scan.pending.push({ offset, delimiter: pieces.join(''), stripTabs, quoted, inFunction, found: [] })
}

/** At a newline: steps over it and over the here-documents that begin behind it. */
export function readNewline(scan: Scan): void {
  const line = scan.at
  scan.at += 1
  for (const document of scan.pending.splice(0)) {
    const { offset, quoted, inFunction } = document
    if (/(?<!\\)\n/.test(scan.template.slice(offset, line)))
      disagree(scan, offset, 'a here-document inside quotes or $( )')
    const { at, end: outer, inFunction: outerFunction } = scan
    scan.end = skipBody(scan, document)
    const next = scan.at
    const before = scan.found.length
    scan.at = at
    if (!quoted && endsEarly(scan.template.slice(at, scan.end), document))
      disagree(scan, offset, 'a \\ at the end of a line of this here-document')
    scan.inFunction = inFunction
    readPieces(scan, startWord(scan), quoted ? 'fixed' : 'document', '')
    scan.inFunction = outerFunction
    document.found = scan.found.slice(before)
    if (document.interpreter) refuse(scan, document.found, `a script for ${document.interpreter}`)
    scan.end = outer
    scan.at = next
  }
}

/** Steps over the text of a here-document and its delimiter, and returns where the text ends. */
function skipBody(scan: Scan, { delimiter, stripTabs }: HereDocument): number {
  for (;;) {
    const { at } = scan
    const line = take(scan, LINE)
    if (!line || line.replace(stripTabs ? /^\t+|\n$/g : /\n$/, '') === delimiter) return at
  }
}

/** True where a line that goes on behind a backslash hides the delimiter, or is one. */
function endsEarly(body: string, { delimiter, stripTabs }: HereDocument): boolean {
  const lines = body.replace(/\\\n/g, '').split('\n')
  return body.endsWith('\\\n') || lines.some((line) => line.replace(stripTabs ? /\t/g : '', '') === delimiter)
}

const LINE = /[^\n]*\n?/y
