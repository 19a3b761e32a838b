import { mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { isOwnRun, placeToWork } from '@delta/workspace'

const surroundings = { cwd: process.cwd(), env: { DELTA_STATE_DIR: resolve('state') } }
mkdirSync('site')

const place = placeToWork(resolve('site'), {}, surroundings)
console.log(place.runsDirectory ?? 'in .delta')
mkdirSync('site/.delta/one', { recursive: true })
console.log(isOwnRun(resolve('site/.delta/one'), surroundings.env)) // it came with the workspace
