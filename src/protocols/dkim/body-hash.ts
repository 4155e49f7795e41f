/**
 * DKIM body hash: SHA-256 over the body in relaxed canonical form, computed on octets (RFC 6376 §3.4.4,
 * §3.7). The composer hashes a body once for all recipients.
 */
import { createHash, hash } from 'node:crypto'

interface BodyHasher {
  /** Adds the next octets of the body. A chunk may end anywhere, even inside a CRLF. */
  update(chunk: Uint8Array): void
  /** Returns the hash in base64. It may be called once. */
  digest(): string
}

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const BLANK = 0x20
const CRLF = Buffer.from('\r\n')
const ONE_BLANK = Buffer.of(BLANK)
const ONE_CR = Buffer.of(CR)
const SCRATCH_OCTETS = 8192
/** Longer runs are hashed in place; shorter ones are collected in the scratch buffer first. */
const COPY_OCTETS_MAX = 1024

/**
 * @param isRelaxed true if the body is known to have no tab, no two blanks in a row and no blank at the end
 * of a line
 * @returns the hash in base64
 */
export function bodyHash(body: Buffer, isRelaxed = false): string {
  if (endsOnce(body) && (isRelaxed || hasLoneBlanks(body))) return hash('sha256', body, 'base64')
  const hasher = createBodyHasher()
  hasher.update(body)
  return hasher.digest()
}

/** Tells whether the body ends in one CRLF after a line that is not empty, as the relaxed form does. */
function endsOnce(body: Buffer): boolean {
  const end = body.length
  return end >= 3 && body[end - 1] === LF && body[end - 2] === CR && body[end - 3] !== LF
}

/** Tells whether the body is in relaxed form except for its end. Most bodies that Mailhorn composes are. */
function hasLoneBlanks(body: Buffer): boolean {
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (byte === TAB || (byte === BLANK && body[at + 1]! <= BLANK)) return false
  }
  return true
}

/**
 * Hashes a body that arrives in chunks. Blanks are SP and TAB only; a CR or LF outside a CRLF, form feeds and
 * all octets above 127 are ordinary octets. A body without content hashes as zero octets; any other body ends
 * in one CRLF.
 */
export function createBodyHasher(): BodyHasher {
  const digest = createHash('sha256')
  const scratch = Buffer.allocUnsafe(SCRATCH_OCTETS)
  let used = 0
  let hasContent = false
  /** Octets that were read and may be the end of a line or of the body: CRLFs, then a blank, then a CR. */
  let heldLines = 0
  let heldBlank = false
  let heldCr = false

  const write = (bytes: Uint8Array) => {
    const direct = bytes.length > COPY_OCTETS_MAX
    if (direct || used + bytes.length > SCRATCH_OCTETS) {
      digest.update(scratch.subarray(0, used))
      used = 0
    }
    if (direct) digest.update(bytes)
    else {
      scratch.set(bytes, used)
      used += bytes.length
    }
  }
  const release = () => {
    for (; heldLines > 0; heldLines--) write(CRLF)
    if (heldBlank) write(ONE_BLANK)
    if (heldCr) write(ONE_CR)
    hasContent = true
    heldBlank = false
    heldCr = false
  }
  const take = (byte: number) => {
    if (heldCr && byte === LF) {
      heldLines++
      heldBlank = false
      heldCr = false
      return
    }
    if (heldCr) release()
    if (byte === BLANK || byte === TAB) heldBlank = true
    else if (byte === CR) heldCr = true
    else {
      release()
      write(Uint8Array.of(byte))
    }
  }
  return {
    update(chunk) {
      for (let at = 0; at < chunk.length; ) {
        const holding = heldLines > 0 || heldBlank || heldCr
        const end = holding ? at : plainEnd(chunk, at)
        if (end > at) {
          write(chunk.subarray(at, end))
          hasContent = true
          at = end
        } else take(chunk[at++]!)
      }
    },
    digest() {
      if (heldCr) release()
      if (hasContent) write(CRLF)
      return digest.update(scratch.subarray(0, used)).digest('base64')
    },
  }
}

/**
 * @returns the end of the run that begins at `from`, is in relaxed form already and is followed by content
 */
function plainEnd(chunk: Uint8Array, from: number): number {
  let at = from
  while (at < chunk.length) {
    while (chunk[at]! > BLANK) at++
    const byte = chunk[at]
    if (byte === BLANK && chunk[at + 1]! > BLANK) at += 2
    else if (byte === CR && chunk[at + 1] === LF && chunk[at + 2]! > BLANK) at += 3
    else break
  }
  return at
}
