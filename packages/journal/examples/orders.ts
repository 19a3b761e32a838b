import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJournal, readJournal } from '@delta/journal'
import * as z from 'zod'

const schema = z.object({ type: z.enum(['ORDERED', 'PAID']), cup: z.string() })
const path = join(mkdtempSync(join(tmpdir(), 'cafe-')), 'orders.jsonl')
const orders = openJournal(path, { schema })
orders.append({ type: 'ORDERED', cup: 'espresso' }, { type: 'PAID', cup: 'espresso' })
orders.sync() // from here on not even a power cut loses them
appendFileSync(path, '{"seq":3,"ty') // what a crash would leave of a third one

const reopened = openJournal(path, { schema })
console.log(reopened.repaired?.tornBytes, 'torn bytes set aside')
reopened.append({ type: 'ORDERED', cup: 'cortado' })
const { events } = await readJournal(path, { schema })
console.log(events.map(({ seq, type, cup }) => `${seq} ${type} ${cup}`))
