// Replaces a file.
import { join } from 'node:path'
import { replaceFile } from '@delta/durable'

replaceFile(join(process.argv[2], 'a.json'), '{}')
