import { measure } from './measure.mjs'

await measure()
