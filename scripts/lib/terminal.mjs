/** Of the terminal that is drawn. */
export const COLUMNS = 118
const FONT_SIZE = 13
const COLUMN = FONT_SIZE * 0.602 // what common monospaced fonts take, in pixels
const LINE = 18
const MARGIN = 16

/** How a line looks, by what it is; the first that matches counts. */
const STYLES = [
  { name: 'typed', pattern: /^\$ /, css: 'fill: #7ee787; font-weight: bold' },
  { name: 'thought', pattern: /^\d+\. /, css: 'fill: #ffffff; font-weight: bold' },
  { name: 'command', pattern: /^ {3}(↳ )?(\w+ )?\$ /, css: 'fill: #79c0ff' },
  { name: 'output', pattern: /^ {5}/, css: 'fill: #9198a1' },
  { name: 'plain', pattern: /^/, css: 'fill: #d1d7e0' },
]

/**
 * Draws what a terminal shows as an SVG: text that can be selected, in the reader's own monospaced font.
 *
 * @param {string} text one longer than the terminal is an error: a picture shows what was typed and printed, whole
 * @param {string} title for those who cannot see it
 */
export function drawTerminal(text, title) {
  const lines = text.split('\n')
  const long = lines.find((line) => line.length > COLUMNS)
  if (long !== undefined) throw new Error(`This line does not fit into ${COLUMNS} columns: ${long}`)
  const width = Math.ceil(COLUMNS * COLUMN + 2 * MARGIN)
  const height = lines.length * LINE + 2 * MARGIN
  const drawn = lines.map((line, index) => {
    const { name } = STYLES.find(({ pattern }) => pattern.test(line)) ?? { name: 'plain' }
    return `<text class="${name}" x="${MARGIN}" y="${MARGIN + (index + 0.75) * LINE}">${escapeXml(line)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" xml:space="preserve">
<title>${escapeXml(title)}</title>
<style>
text { font: ${FONT_SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
${STYLES.map(({ name, css }) => `.${name} { ${css} }`).join('\n')}
</style>
<rect width="100%" height="100%" rx="8" fill="#151b23"/>
${drawn.join('\n')}
</svg>
`
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
