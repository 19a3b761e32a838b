import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const BLOCK = /^<!-- decisions -->\n[\s\S]*?^<!-- \/decisions -->$/m
const RECORD = /^(\d{4})-.*\.md$/

/**
 * Lists the records beside an index of decisions between its `decisions` markers, by number and title.
 *
 * @param {string} text of the index
 * @param {string} directory of the index
 * @returns {{ rendered: string, problems: string[] }}
 */
export function listDecisions(text, directory) {
  if (!BLOCK.test(text)) return { rendered: text, problems: [] }
  /** @type {string[]} */
  const problems = []
  const numbers = new Set()
  const lines = readdirSync(directory)
    .sort()
    .flatMap((file) => {
      const [, number] = RECORD.exec(file) ?? []
      if (number === undefined) return []
      if (numbers.has(number)) problems.push(`${file}: another record has this number, too`)
      numbers.add(number)
      const [, titled, title] = /^# (\d+)[.:] (.+)\n/.exec(readFileSync(join(directory, file), 'utf8')) ?? []
      if (Number(titled) !== Number(number))
        problems.push(`${file}: its title does not begin with its number`)
      return [`- [${number}](${file}) ${title}`]
    })
  const list = `<!-- decisions -->\n${lines.join('\n')}\n<!-- /decisions -->`
  return { rendered: text.replace(BLOCK, () => list), problems }
}
