// Replaces a file.
import { join } from 'node:path'
import { replaceFile } from '../dist/index.js'

replaceFile(join(process.argv[2], 'a.json'), '{}')
