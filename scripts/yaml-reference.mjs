import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './lib/environment.mjs'

/**
 * @typedef {{ type?: string | string[], enum?: unknown[], const?: unknown, description?: string, default?: unknown, items?: Schema,
 *   properties?: Record<string, Schema>, required?: string[], anyOf?: Schema[], oneOf?: Schema[],
 *   additionalProperties?: Schema | boolean }} Schema
 */

const PAGE = join(root, 'docs/reference/yaml.md')
const SCHEMAS = join(root, 'packages/config-loader/schemas')
const SCHEMA_OF_EVAL = join(root, 'packages/evals/schemas/eval.json')

/**
 * Every key of a schema, as rows of a table. Of alternatives each brings its own keys; what is the same is shown once.
 *
 * @param {Schema} schema
 * @param {string} [path] of the key that holds it
 * @param {boolean} [required]
 * @returns {string[]}
 */
export function describeSchema(schema, path = '', required = false) {
  const description = alternatives(schema).find((one) => one.description)?.description ?? ''
  const own =
    path === '' ? [] : [`| \`${path}\`${required ? ' *' : ''} | ${typeOf(schema)} | ${cell(description)} |`]
  const inner = alternatives(schema).flatMap((one) => [
    ...Object.entries(one.properties ?? {}).flatMap(([name, property]) =>
      describeSchema(property, path === '' ? name : `${path}.${name}`, one.required?.includes(name)),
    ),
    ...describedValues(one).flatMap((values) => describeSchema(values, `${path}.<name>`).slice(1)),
    ...(one.items ? describeSchema(one.items, `${path}[]`).slice(isPlain(one.items) ? 1 : 0) : []),
  ])
  return [...new Set([...own, ...inner])]
}

/** @param {Schema} schema of which each key is an author's name @returns {Schema[]} */
function describedValues({ additionalProperties: values }) {
  if (!(values instanceof Object)) return []
  return Object.values(values.properties ?? {}).some(({ description }) => description) ? [values] : []
}

/** @param {Schema} schema */
function isPlain({ description, enum: values, anyOf, oneOf }) {
  return description === undefined && values === undefined && anyOf === undefined && oneOf === undefined
}

/** @param {Schema} schema @returns {string} */
function typeOf({ type, enum: values, const: constant, items, anyOf, oneOf }) {
  if (constant !== undefined) return `\`${constant}\``
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  const choices = anyOf ?? oneOf
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ')
  if (items) return `list of ${typeOf(items)}`
  if (type === 'null') return 'nothing'
  return [type ?? 'any'].flat().join(' or ').replace('object', 'mapping')
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ')
}

function page() {
  const [agent, context, hooks] = ['agent', 'context', 'hooks'].map((name) =>
    read(join(SCHEMAS, `${name}.json`)),
  )
  const { tools, ...keys } = agent?.properties ?? {}
  const hook = Object.entries(hooks?.anyOf?.[0]?.properties ?? {})
  const { sources, ...others } = context?.properties ?? {}
  const kinds = sources?.items?.oneOf ?? []
  return `# Keys of the YAML files

Generated from the schemas that come with [@delta/config-loader](../../packages/config-loader/README.md), which editors read, too. \`[]\` is
an element of a list, * a key that must be there. Keys that begin with \`x-\` are yours; every other unknown key is reported by
\`delta config\`, but for those under \`llm\`, which are parameters of the API. More about
[tools](../how-to/tools.md), [policies](../../packages/executor/README.md#how-a-tool-runs), [the model](../../packages/model/README.md#settings),
[context](../how-to/context.md) and [hooks](../how-to/hooks.md).

## agent.yaml

${table({ ...agent, properties: keys })}
Also \`tools\`, a list of tools as below, and \`lifecycle_hooks\`, with the keys of hooks.yaml. A file under \`imports\` has \`tools\`, and may have
\`imports\` of its own.

## A tool

${table(mapping(alternatives(tools).find(({ items }) => items)?.items))}
## context.yaml

${table({ ...context, properties: others })}
Also \`sources\` *, a list of these:

${kinds.map((kind) => `### ${kind.properties?.type?.const}\n\n${table(kind)}`).join('\n')}
## hooks.yaml

Its keys are the moments of a run: ${hook.map(([name]) => `\`${name}\``).join(', ')}. Under each:

${table(hook[0]?.[1])}
## eval.yaml

What [\`delta eval\`](../how-to/evaluate.md) runs. A variant of \`matrix\` has the keys of \`variants\`; several scorers are a mapping of names to
what \`score\` has here. The schema for editors comes with [@delta/evals](../../packages/evals/README.md).

${table(evaluation())}`
}

/** The keys of eval.yaml. Of its partial variants and named scorers only one form each is shown. */
function evaluation() {
  const schema = read(SCHEMA_OF_EVAL)
  const { name, tasks, variants, matrix, exclude, score, ...others } = schema.properties ?? {}
  const [one] = score?.anyOf ?? []
  const oneForm = {
    matrix: { type: 'object', description: matrix?.description },
    score: { ...one, description: score?.description },
  }
  const properties = {
    name,
    tasks,
    variants,
    matrix: oneForm.matrix,
    exclude,
    score: oneForm.score,
    ...others,
  }
  return /** @type {Schema} */ ({ ...schema, properties })
}

/** @param {string} path @returns {Schema} */
function read(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** @param {Schema | undefined} schema */
function alternatives(schema) {
  return schema === undefined ? [] : [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
}

/** @param {Schema | undefined} schema the alternative that has keys */
function mapping(schema) {
  return alternatives(schema).find(({ properties }) => properties)
}

/** @param {Schema | undefined} schema */
function table(schema) {
  if (!schema?.properties) throw new Error('The schemas have changed their shape; this page must follow')
  return `| key | value | |\n|---|---|---|\n${describeSchema(schema).join('\n')}\n`
}

/** Writes docs/reference/yaml.md from the schemas; with `--check` it only says whether the page is what it should be. */
function main() {
  const text = page()
  if (!process.argv.includes('--check')) {
    writeFileSync(PAGE, text)
    return 0
  }
  if (readFileSync(PAGE, 'utf8') === text) return 0
  console.error(
    'docs/reference/yaml.md is not what the schemas say. Update it with: node scripts/yaml-reference.mjs',
  )
  return 1
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  process.exitCode = main()
