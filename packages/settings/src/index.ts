export { fitShape, type ShapeProblem, unknownKey } from './fit-shape.js'
export { inCamelCase } from './in-camel-case.js'
export { nearestNames } from './nearest-names.js'
export { formatPath, showValue, type ValuePath, valueAt } from './value-path.js'
