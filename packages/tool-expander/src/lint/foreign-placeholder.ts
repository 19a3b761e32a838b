import type { LintFinding } from './finding.js'
import type { Source } from './source.js'

const QUOTED = /\\.|"(?:\\.|[^"\\])*"|'[^']*'/gs
/** `{file}` or `{{ file }}`; `@{u}`, `^{tree}` and `%{size}` mean something to programs. */
const FOREIGN = /(?<![$@^%{])(?:\{\{ *([A-Za-z_]\w*) *\}\}|\{([A-Za-z_]\w*)\})(?!\})/g
/** Programs to which a name in braces means something. */
const OWN_BRACES = /(?<![\w./-])(?:[jy]q|xargs|parallel|fzf|fd|just)(?![\w.-])/

/** `cat {file}`, as other frameworks write it: the braces reach the command, and the model has nothing to give. */
export function foreignPlaceholder({ template, at }: Source): LintFinding[] {
  if (OWN_BRACES.test(template)) return []
  const bare = template.replace(QUOTED, (quoted) => ' '.repeat(quoted.length))
  return [...bare.matchAll(FOREIGN)].map(({ 0: written, 1: double, 2: single, index }) => {
    const message = `${written} is plain text here, and no parameter.`
    return at('foreign-placeholder', index, message, `Write \${${double ?? single}}, or quotes for the text.`)
  })
}
