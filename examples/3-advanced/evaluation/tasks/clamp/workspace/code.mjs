export function clamp(value, low, high) {
  return Math.max(high, Math.min(low, value))
}
