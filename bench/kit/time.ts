/** Times that several processes can compare. */

/** Epoch ms with fractions. */
export function epochNow(): number {
  return performance.timeOrigin + performance.now()
}
