import { defineConfig } from 'tsup'

/** The command line as one file that needs no other: finding and loading modules is most of what its start costs. */
export default defineConfig({
  entry: ['src/main.ts'],
  outDir: 'dist/bin',
  format: 'cjs',
  target: 'node20',
  minify: true,
  removeNodeProtocol: false,
  noExternal: [/.*/],
  loader: { '.py': 'text' },
})
