// For the other packages of Delta: may change in any release.
export { toolSchemas } from './schema.js'
export { SCHEMA_WORDS } from './values.js'
