/** Formats numbers for display. */

const whole = new Intl.NumberFormat('en')

export function count(n: number): string {
  return whole.format(n)
}

/** Digits in one group, or in groups of three as numbers are written in different countries. */
const WHOLE = /^(?:\d+|\d{1,3}(?:([,.’'\u00A0\u202F ])\d{3})(?:\1\d{3})*)$/

/** Reads `3000` and `3,000`. @returns undefined for anything but a whole number */
export function wholeNumber(text: string): number | undefined {
  const trimmed = text.trim()
  return WHOLE.test(trimmed) ? Number(trimmed.replaceAll(/\D/g, '')) : undefined
}

/** Formats `1 email` or `2,000 emails`. */
export function counted(n: number, noun: string, plural = `${noun}s`): string {
  return `${whole.format(n)} ${n === 1 ? noun : plural}`
}

/**
 * Formats `98.2 %` or `0.05 %`.
 * @param share number between 0 and 1
 */
export function percent(share: number): string {
  const value = share * 100
  return `${Number(value.toFixed(value < 1 || (value > 99 && value < 100) ? 2 : 1))} %`
}

export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`
  if (n < 1_000_000) return `${(n / 1_000).toFixed(1)} kB`
  if (n < 1_000_000_000) return `${(n / 1_000_000).toFixed(1)} MB`
  return `${(n / 1_000_000_000).toFixed(1)} GB`
}
