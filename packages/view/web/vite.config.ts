import { defineConfig } from 'vite'

/** One script and one style sheet: the server keeps them in memory, and an exported file holds them. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/assets/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/assets',
    emptyOutDir: true,
    assetsDir: '.',
    target: 'es2023',
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        entryFileNames: 'app.[hash].js',
        assetFileNames: 'app.[hash][extname]',
        codeSplitting: false,
      },
    },
  },
})
