import { defineConfig } from 'tsup'

/** Everything is bundled and split by command, so that an install is one package and a start loads little. */
export default defineConfig({
  entry: ['src/main.ts'],
  format: 'esm',
  target: 'node20',
  platform: 'node',
  clean: true,
  splitting: true,
  noExternal: [/.*/],
})
