import manifest from '../package.json' with { type: 'json' }

/** Of this package, as `ENGINE_START` records it. */
export const ENGINE_VERSION: string = manifest.version
