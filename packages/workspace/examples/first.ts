import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOwnRun, placeToWork } from '@delta/workspace'

const home = mkdtempSync(join(tmpdir(), 'delta-'))
const surroundings = { cwd: home, env: { DELTA_STATE_DIR: join(home, 'state') } }
const site = join(home, 'site')
mkdirSync(join(site, '.delta/one'), { recursive: true })

const place = placeToWork(site, {}, surroundings)
console.log(place.runsDirectory ?? 'Runs are kept in .delta.')
console.log(isOwnRun(join(site, '.delta/one'), surroundings.env) ? 'Mine.' : 'It came with the workspace.')
