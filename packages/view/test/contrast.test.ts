import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const THEMES = ['light', 'dark'] as const
type Theme = (typeof THEMES)[number]

const css = readFileSync(join(import.meta.dirname, '../web/tokens.css'), 'utf8')
const tokens = new Map(
  [...css.slice(0, css.indexOf('@media')).matchAll(/(--[\w-]+):\s*([^;]+);/g)].map(([, name, value]) => [
    name,
    value,
  ]),
)

const names = (beginning: string) =>
  [...tokens.keys()].filter((name) => name?.startsWith(beginning)) as string[]

describe.each(THEMES)('in the %s theme', (theme) => {
  const texts = ['--ink', '--dim', '--accent', '--bad', '--waits', '--added', ...names('--ansi-')]
  test.each(texts)('text in %s has a contrast of at least 4.5 to the paper', (name) => {
    expect(contrast(colorOf(name, theme), colorOf('--paper', theme))).toBeGreaterThanOrEqual(4.5)
  })

  test.each(texts)('text in %s is legible on a row that is selected', (name) => {
    const paper = colorOf('--paper', theme)
    const selected = mixed(colorOf('--accent', theme), paper, 0.09)
    expect(contrast(colorOf(name, theme), selected)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['--model', ...names('--source-')])('%s has a contrast of at least 3 to the paper', (name) => {
    expect(contrast(colorOf(name, theme), colorOf('--paper', theme))).toBeGreaterThanOrEqual(3)
  })

  test('sources have one lightness and one chroma, and hues that are apart', () => {
    const sources = names('--source-').map((name) => oklchOf(name, theme))
    expect(new Set(sources.map(([lightness]) => lightness)).size).toBe(1)
    expect(new Set(sources.map(([, chroma]) => chroma)).size).toBe(1)
    const hues = sources.map(([, , hue]) => hue).sort((one, other) => one - other)
    for (const [index, hue] of hues.entries())
      expect(hue - (hues[index - 1] ?? -360)).toBeGreaterThanOrEqual(25)
  })
})

type Triple = [number, number, number]

function oklchOf(name: string, theme: Theme): Triple {
  const value = tokens.get(name) ?? ''
  const [, other] = /^var\((--[\w-]+)\)$/.exec(value) ?? []
  if (other) return oklchOf(other, theme)
  const colors = [...value.matchAll(/oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\)/g)].map(
    ([, lightness, chroma, hue]): Triple => [Number(lightness) / 100, Number(chroma), Number(hue)],
  )
  const color = colors[theme === 'light' ? 0 : 1]
  if (color === undefined) throw new Error(`${name} has no colour for the ${theme} theme: ${value}`)
  return color
}

/** Linear sRGB, cut to what a screen shows. */
function colorOf(name: string, theme: Theme): Triple {
  const [lightness, chroma, hue] = oklchOf(name, theme)
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)]
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  const cut = (part: number) => Math.min(1, Math.max(0, part))
  return [
    cut(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    cut(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    cut(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ]
}

/** What a screen shows of a colour that lets another one through: browsers mix the encoded values. */
function mixed(color: Triple, under: Triple, share: number): Triple {
  const encode = (part: number) => (part <= 0.0031308 ? part * 12.92 : 1.055 * part ** (1 / 2.4) - 0.055)
  const decode = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  return color.map((part, index) => {
    return decode(encode(part) * share + encode(under[index] as number) * (1 - share))
  }) as Triple
}

function luminance([red, green, blue]: Triple): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: Triple, other: Triple): number {
  const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (high + 0.05) / (low + 0.05)
}
