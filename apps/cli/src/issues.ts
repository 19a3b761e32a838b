/** Where bugs in this program are reported. */
export const ISSUES = 'https://github.com/delta-engine/delta/issues'
