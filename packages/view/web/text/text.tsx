import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../format.js'
import { styled } from './ansi.js'
import { oneLine, pieces } from './marks.js'
import type { DiffLine } from './unified-diff.js'

/** A text of the run: text nodes, and a mark for each character that could not be seen. */
export function Plain({ text }: { text: string }) {
  return <bdi>{marked(text)}</bdi>
}

/** What a command printed, in the colours that it asked for. */
export function Terminal({ text }: { text: string }) {
  return (
    <bdi>
      {styled(text).map((piece, index) => {
        const { text, color, bold, dim, italic, underline } = piece
        const classes = [
          color && `ansi-${color}`,
          bold && 'bold',
          dim && 'dim',
          italic && 'italic',
          underline && 'underline',
        ].filter(Boolean)
        return classes.length === 0 ? (
          marked(text)
        ) : (
          <span key={index} class={classes.join(' ')}>
            {marked(text)}
          </span>
        )
      })}
    </bdi>
  )
}

function marked(text: string): ComponentChildren {
  const found = pieces(text)
  const [only] = found
  if (found.length === 1 && only && 'text' in only) return only.text
  return found.map((piece, index) =>
    'text' in piece ? (
      piece.text
    ) : (
      <span key={index} class="mark" title={piece.name}>
        {piece.mark}
      </span>
    ),
  )
}

/** A unified diff: removed and added lines are told apart by their sign, too. */
export function Diff({ lines, numbers = false }: { lines: readonly DiffLine[]; numbers?: boolean }) {
  return (
    <pre class={`diff ${numbers ? 'numbered' : ''}`}>
      {lines.map((line, index) => (
        <span key={index} class={`line ${line.kind}`}>
          {numbers && (
            <span class="number" aria-hidden="true">
              {line.old ?? ''}
            </span>
          )}
          {numbers && (
            <span class="number" aria-hidden="true">
              {line.new ?? ''}
            </span>
          )}
          <span class="content">
            {SIGN[line.kind]}
            <Plain text={line.text} />
            {'\n'}
          </span>
        </span>
      ))}
    </pre>
  )
}

const SIGN = { same: '  ', added: '+ ', removed: '− ', hunk: '', file: '' }

/** JSON with what is long folded. Of an object what is in it: its braces say nothing. */
export function JsonTree({ value }: { value: unknown }) {
  const isObject = Object(value) === value && !Array.isArray(value)
  const entries = isObject ? Object.entries(value as object) : []
  return (
    <div class="tree">
      {entries.length === 0 && <Json value={value} />}
      {entries.map(([key, each]) => (
        <Json key={key} name={oneLine(key)} value={each} depth={1} />
      ))}
    </div>
  )
}

/** JSON with what is long folded. */
function Json({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name === undefined ? null : <span class="key">{name}: </span>
  if (value === null || typeof value !== 'object')
    return (
      <div class="json">
        {label}
        <Leaf value={value} />
      </div>
    )
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  if (entries.length === 0)
    return (
      <div class="json">
        {label}
        <span class="dim">{isList ? '[ ]' : '{ }'}</span>
      </div>
    )
  return (
    <Branch
      label={label}
      entries={entries}
      isList={isList}
      isOpen={depth < 1 || entries.length === 1}
      depth={depth}
    />
  )
}

function Branch(properties: {
  label: ComponentChildren
  entries: [string, unknown][]
  isList: boolean
  isOpen: boolean
  depth: number
}) {
  const { label, entries, isList, depth } = properties
  const [isOpen, setOpen] = useState(properties.isOpen)
  const [most, setMost] = useState(MOST_ENTRIES)
  return (
    <details class="json" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span class="dim">
          {isList ? `[${entries.length}]` : `{${entries.length}}`}{' '}
          {!isOpen && <Plain text={glimpse(entries, isList)} />}
        </span>
      </summary>
      {isOpen &&
        entries
          .slice(0, most)
          .map(([key, each]) => <Json key={key} name={oneLine(key)} value={each} depth={depth + 1} />)}
      {isOpen && entries.length > most && (
        <button type="button" class="link" onClick={() => setMost(most * 10)}>
          {entries.length - most} more
        </button>
      )}
    </details>
  )
}

const MOST_ENTRIES = 100
const MOST_CHARACTERS = 2000

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span class="atom">{String(value)}</span>
  const isCut = !isWhole && value.length > MOST_CHARACTERS
  return (
    <span class={value.includes('\n') || value.length > 100 ? 'string long' : 'string'}>
      <Plain text={isCut ? value.slice(0, MOST_CHARACTERS) : value} />
      {isCut && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          … {count(value.length - MOST_CHARACTERS)} more characters
        </button>
      )}
    </span>
  )
}

/** What a folded value holds: its role, type or name, and the beginning of its text. */
function glimpse(entries: [string, unknown][], isList: boolean): string {
  if (isList) return ''
  const words = entries.flatMap(([key, value]) =>
    /^(role|type|name|tool_call_id|call_id)$/.test(key) && typeof value === 'string' ? [value] : [],
  )
  const text = entries.find(
    ([key, value]) => /^(content|text|output|arguments|description)$/.test(key) && typeof value === 'string',
  )
  if (text) words.push(oneLine(String(text[1]).slice(0, 200)))
  return words.length > 0 ? words.join(' · ') : entries.map(([key]) => key).join(', ')
}
