import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openJournal, readJournal } from '@delta/journal'

type Order = { seq: number; timestamp: string; type: 'ORDERED' | 'PAID'; cup: string }
const path = join(mkdtempSync(join(tmpdir(), 'cafe-')), 'orders.jsonl')
const orders = openJournal<Order>(path)
orders.append({ type: 'ORDERED', cup: 'espresso' }, { type: 'PAID', cup: 'espresso' })
orders.sync() // from here on not even a power cut loses them
appendFileSync(path, '{"seq":3,"ty') // what a crash would leave of a third one

const reopened = openJournal<Order>(path)
console.log(reopened.repaired?.tornBytes, 'torn bytes set aside')
reopened.append({ type: 'ORDERED', cup: 'cortado' })
console.log((await readJournal(path)).events.map((event) => `${event.seq} ${event.type}`))
