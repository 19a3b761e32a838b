export type { RunList, RunRow } from './api.js'
