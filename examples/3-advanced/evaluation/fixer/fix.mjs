import { readFileSync, writeFileSync } from 'node:fs'

// Stands in for what a model knows. SKILL of 100 tries succeed: by the seed of the cell, which is the same for all variants.
const FIXES = [
  ['at + size <= list.length', 'at < list.length'],
  ['Math.max(high, Math.min(low, value))', 'Math.min(high, Math.max(low, value))'],
  ['year % 4 === 0 && year % 100 !== 0', '(year % 4 === 0 && year % 100 !== 0) || year % 400 === 0'],
  ['.sort()', '.sort((one, other) => one - other)'],
  ['length: last - first', 'length: last - first + 1'],
  [".replace(' ', '-')", ".replaceAll(/ +/g, '-')"],
  ['/\\b[a-z]/,', '/\\b[a-z]/g,'],
  ["text.split(' ').length", 'text.split(/\\s+/).filter(Boolean).length'],
]

const { DELTA_SEED = '0', SKILL = '100' } = process.env
const code = readFileSync('code.mjs', 'utf8')
const [wrong, right] = FIXES.find(([wrong]) => code.includes(wrong)) ?? ['', '']
const isFound = Number(DELTA_SEED) % 100 < Number(SKILL)
if (isFound)
  writeFileSync(
    'code.mjs',
    code.replace(wrong, () => right),
  )
console.log(isFound ? `${wrong} -> ${right}` : 'It looks fine.')
