/** Unfolds the value of a header field to one line (RFC 5322 §2.2.3). */
export function unfolded(value: string): string {
  return value.replace(/\r\n(?=[ \t])/g, '').trim()
}
