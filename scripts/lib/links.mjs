import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const LINK = /\]\(([^)\s]+)\)/g
const FENCED = /^(`{3,})[^\n]*\n[\s\S]*?\n\1$/gm

/**
 * The links of a Markdown document that lead to no file. Links with a scheme and anchors are not followed.
 *
 * @param {string} text
 * @param {string} path the document's own
 * @returns {string[]} the links as written
 */
export function brokenLinks(text, path) {
  const prose = text.replace(FENCED, '').replace(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(LINK)].map((match) => match[1] ?? '')
  return targets.filter((target) => {
    if (/^([a-z]+:|#)/.test(target)) return false
    return !existsSync(resolve(dirname(path), decodeURI(target.replace(/#.*$/, ''))))
  })
}
