type Paint = (text: string) => string

export interface Style {
  bold: Paint
  dim: Paint
  cyan: Paint
  yellow: Paint
  red: Paint
}

/** Colours for a terminal; plain text for anything else, and wherever `NO_COLOR` is set. */
export function styleFor(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): Style {
  const colours = stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
  const paint =
    (open: number, close: number): Paint =>
    (text) =>
      colours ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    cyan: paint(36, 39),
    yellow: paint(33, 39),
    red: paint(31, 39),
  }
}

const same: Paint = (text) => text

/** For files. */
export const PLAIN: Style = { bold: same, dim: same, cyan: same, yellow: same, red: same }
