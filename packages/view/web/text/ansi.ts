/** How a piece of output is coloured. `color` is 1 … 6 (red, green, yellow, blue, magenta, cyan); none is the text's own colour. */
export interface Style {
  color?: number
  dim?: true
  bold?: true
  italic?: true
  underline?: true
}

export interface Styled extends Style {
  text: string
}

const SELECT_GRAPHIC_RENDITION = /\x1b\[([\d;:]*)m/g

/**
 * Splits output into pieces of one style. Only colours and weights count: every other escape sequence stays in the text, where it is
 * shown as a mark. Backgrounds are left out, so text is always legible on the page.
 */
export function styled(output: string): Styled[] {
  const found: Styled[] = []
  let style: Style = {}
  let from = 0
  for (const match of output.matchAll(SELECT_GRAPHIC_RENDITION)) {
    if (match.index > from) found.push({ text: output.slice(from, match.index), ...style })
    style = after(style, match[1] ?? '')
    from = match.index + match[0].length
  }
  if (from < output.length) found.push({ text: output.slice(from), ...style })
  return found
}

function after(before: Style, parameters: string): Style {
  let style = { ...before }
  const codes = parameters.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] as number
    if (code === 0) style = {}
    else if (code === 1) style.bold = true
    else if (code === 2) style.dim = true
    else if (code === 3) style.italic = true
    else if (code === 4) style.underline = true
    else if (code === 22) style = without(style, 'bold', 'dim')
    else if (code === 23) style = without(style, 'italic')
    else if (code === 24) style = without(style, 'underline')
    else if (code === 39) style = without(style, 'color')
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) style = colored(style, code % 10, code)
    else if (code === 38 || code === 48) {
      const isIndexed = codes[at + 1] === 5
      const color = isIndexed ? ofIndex(codes[at + 2]) : ofRgb(codes.slice(at + 2, at + 5))
      if (code === 38) style = color === 0 ? without(style, 'color') : { ...style, color }
      at += isIndexed ? 2 : 4
    }
  }
  return style
}

/** Black and white are the text's own colour; bright black is dim. */
function colored(style: Style, color: number, code: number): Style {
  const plain = without(style, 'color')
  if (color >= 1 && color <= 6) return { ...plain, color }
  return code === 90 ? { ...plain, dim: true } : plain
}

function without(style: Style, ...keys: (keyof Style)[]): Style {
  return Object.fromEntries(Object.entries(style).filter(([key]) => !keys.includes(key as keyof Style)))
}

function ofIndex(index = 0): number {
  if (index < 16) return index % 8 === 7 ? 0 : index % 8
  if (index > 231) return 0
  const cube = index - 16
  return ofRgb([Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((part) => part * 51))
}

/** The nearest of six hues: a colour of the page, which is legible in both themes. */
function ofRgb([red = 0, green = 0, blue = 0]: number[]): number {
  const [high, low] = [Math.max(red, green, blue), Math.min(red, green, blue)]
  if (high - low < 48) return 0
  const middle = (high + low) / 2
  const bits = (red > middle ? 1 : 0) | (green > middle ? 2 : 0) | (blue > middle ? 4 : 0)
  return bits % 7
}
