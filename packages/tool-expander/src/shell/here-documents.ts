import { describe, references, refuse, type Scan, stop } from './scan.js'
import { disagree, readPieces, readWord, startWord } from './words.js'

/** Reads `<<EOF` behind its operator. The text itself comes after the line. */
export function readDelimiter(scan: Scan, stripTabs: boolean): void {
  const offset = scan.at
  while (/[ \t]/.test(scan.text.charAt(scan.at))) scan.at += 1
  const start = scan.at
  const { found, quoted, pieces } = readWord(scan)
  refuse(scan, found, 'the delimiter of a here-document', 'Choose a fixed word: <<EOF.')
  const written = scan.text.slice(start, scan.at)
  if (written === '' || /[$`\n]/.test(written))
    stop(scan, offset, 'Write a plain word as the delimiter: <<EOF.')
  scan.pending.push({ offset, delimiter: pieces.join(''), stripTabs, quoted })
}

/** At a newline: steps over it and over the here-documents that begin behind it. */
export function readNewline(scan: Scan): void {
  const line = scan.at
  scan.at += 1
  for (const document of scan.pending.splice(0)) {
    if (scan.text.slice(document.offset, line).replaceAll('\\\n', '').includes('\n')) {
      disagree(scan, document.offset, 'a here-document whose line goes on inside quotes or $( )')
    }
    const body = bodyOf(scan, document.delimiter, document.stripTabs)
    const { end } = scan
    const before = scan.found.length
    scan.end = body.end
    if (document.quoted) readQuotedBody(scan)
    else {
      if (body.continued) disagree(scan, document.offset, 'a \\ before the end of a here-document')
      readPieces(scan, startWord(scan), 'document', '')
    }
    const { interpreter } = document
    if (interpreter !== undefined) {
      refuse(
        scan,
        scan.found.slice(before),
        `a script that ${interpreter} reads`,
        `Write sh -c '… "$1"' _ \${value}.`,
      )
    }
    scan.end = end
    scan.at = body.next
  }
}

function bodyOf({ text, at, end }: Scan, delimiter: string, stripTabs: boolean) {
  let start = at
  while (start < end) {
    const newline = text.indexOf('\n', start)
    const stop = newline === -1 || newline > end ? end : newline
    const line = text.slice(start, stop)
    if ((stripTabs ? line.replace(/^\t+/, '') : line) === delimiter) {
      return { end: start, next: Math.min(stop + 1, end), continued: text.slice(at, start).endsWith('\\\n') }
    }
    start = stop + 1
  }
  return { end, next: end, continued: false }
}

/** Nothing is expanded in here, so a positional would come out as text. */
function readQuotedBody(scan: Scan): void {
  for (const { reference, offset, backslashes } of references(scan.text, scan.at, scan.end)) {
    if (backslashes % 2 === 1) scan.dropped.push(offset - 1)
    else {
      const message = `\${${reference.name}} stands in a here-document with a quoted delimiter, where nothing is expanded.`
      const hint = `Remove the quotes from the delimiter, pass the value as an argument, or write \\\${${reference.name}} for the text itself.`
      scan.problems.push(describe(scan, offset, message, hint, 'ERR_SHELL_POSITIONAL'))
    }
  }
}
