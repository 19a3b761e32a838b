import { defineConfig } from 'tsup'

/** The JavaScript of a library, from the entries that its build names. `tsc -b` writes the declarations beside it, which stay. */
export default defineConfig({
  format: 'esm',
  clean: ['!**/*.d.ts', '!tsconfig.tsbuildinfo'],
})
