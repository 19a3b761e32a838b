export { type BootstrapOptions, bootstrap, quantile } from './bootstrap.js'
export { type ClusteredMean, clusteredMean, type Rate, rate } from './clustered.js'
export type { Cluster } from './clusters.js'
export { betaQuantile, binomialCdf, normalCdf, normalQuantile, tCdf, tQuantile } from './distributions.js'
export { holm, tiedSets } from './multiple-comparisons.js'
export {
  mcnemarExact,
  type PairedDifference,
  pairedDifference,
  type SignFlipOptions,
  signFlip,
  type TaskValue,
} from './paired.js'
export { passAtK, passHatK } from './pass-at-k.js'
export { minimumDetectableEffect, type PowerOptions, requiredTasks } from './power.js'
export { clopperPearson, type Interval, type IntervalOptions, newcombe, wilson } from './proportions.js'
