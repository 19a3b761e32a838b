/**
 * The regularized incomplete beta function I_x(a, b): the distribution of a beta variable, and of everything made of it
 * (Student's t, the binomial).
 *
 * A continued fraction (DiDonato & Morris 1992), with the power in front of it in saddle-point form (Loader 2000), which stays
 * exact where logarithms of gamma functions cancel: at a = b = 10⁶ they have lost seven digits.
 *
 * @param x - From 0 to 1.
 * @param y - 1 − x, computed by the caller, who may know it more exactly than this subtraction.
 */
export function regularizedBeta(x: number, y: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (y <= 0) return 1
  // The fraction converges fast only on this side of the mean.
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(y, x, b, a)
  return power(x, y, a, b) * continuedFraction(x, y, a, b)
}

/** x^a · y^b / B(a, b). */
function power(x: number, y: number, a: number, b: number): number {
  const n = a + b
  const exponent =
    stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n * x) - deviance(b, n * y)
  return Math.sqrt(a / (2 * Math.PI)) * Math.sqrt(b / n) * Math.exp(exponent)
}

/**
 * 1/(β₀ + α₁/(β₁ + α₂/(β₂ + …))), by Lentz's method (1976).
 *
 * This form of the fraction takes how far x lies below the mean as a term of its own: with x close to 1, as for Student's t
 * with many degrees of freedom, other forms subtract numbers that are almost equal.
 */
function continuedFraction(x: number, y: number, a: number, b: number): number {
  const below = x > 0.5 ? (a + b) * y - b : a - (a + b) * x
  let fraction = (a * (below + 1)) / (a + 1)
  let numerator = fraction
  let denominator = 0
  for (let n = 1; ; n++) {
    const middle = a + 2 * n - 1
    const part = (n * (b - n) * x) / middle
    const alpha = (a + n - 1) * ((a + b + n - 1) / middle) * part * x
    const beta = n + part + ((a + n) / (middle + 2)) * (below + 1 + n * (1 + y))
    denominator = 1 / (beta + alpha * denominator)
    numerator = beta + alpha / numerator
    fraction *= numerator * denominator
    if (Math.abs(numerator * denominator - 1) < 1e-15) return 1 / fraction
  }
}

/** What Stirling's formula leaves out: ln Γ(z + 1) − (z + ½) ln z + z − ½ ln 2π. */
function stirlingError(z: number): number {
  if (z < 10) return stirlingError(z + 1) + (z + 0.5) * Math.log1p(1 / z) - 1
  const s = 1 / (z * z)
  return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - (s * 691) / 360360))))) / z
}

/** a ln(a/mean) + mean − a, without cancelling where the two are close. */
function deviance(a: number, mean: number): number {
  const u = (mean - a) / a
  if (Math.abs(u) > 0.1) return a * Math.log(a / mean) + mean - a
  let sum = 0
  let term = u
  for (let k = 2; k < 20; k++) {
    term *= -u
    sum -= term / k
  }
  return a * sum
}
