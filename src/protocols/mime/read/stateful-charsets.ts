/**
 * Decoders of stateful 7-bit charsets that the platform does not support, or not as mail has them. They
 * decode octet by octet, so that a body may be split anywhere.
 */
import { BASE64_VALUES } from './base64.ts'

/** Decodes the octets of one body to text. */
export interface CharsetDecoder {
  write(piece: Uint8Array): string
  end(): string
}

/** Decoders, by the names of `charset-labels.ts`. */
export const STATEFUL: ReadonlyMap<string, () => CharsetDecoder> = new Map([
  ['utf-7', utf7Decoder],
  ['hz-gb-2312', () => shiftedDecoder(hzRules(), 'gb18030')],
  ['iso-2022-kr', () => shiftedDecoder(iso2022KrRules(), 'euc-kr')],
  ['iso-2022-jp', () => shiftedDecoder(iso2022JpRules(), 'iso-2022-jp')],
])

const PLUS = 0x2b
const MINUS = 0x2d

/** Decodes UTF-7 (RFC 2152 §2). */
function utf7Decoder(): CharsetDecoder {
  let isEncoded = false
  let isEmpty = false
  let bits = 0
  let bitCount = 0
  return {
    write(piece) {
      // A plus sign that encodes nothing is recognized at the next octet, so one more unit is needed.
      const units = new Uint16Array(piece.length + 1)
      let to = 0
      for (let from = 0; from < piece.length; from++) {
        const octet = piece[from]!
        if (isEncoded) {
          const value = BASE64_VALUES[octet]!
          if (value >= 0) {
            isEmpty = false
            bits = ((bits << 6) | value) & 0x3fffff
            bitCount += 6
            if (bitCount < 16) continue
            bitCount -= 16
            units[to++] = bits >> bitCount
            continue
          }
          isEncoded = false
          if (isEmpty) units[to++] = PLUS
          if (octet === MINUS) continue
        }
        if (octet === PLUS) {
          isEncoded = true
          isEmpty = true
          bitCount = 0
        } else units[to++] = octet
      }
      return Buffer.from(units.buffer, 0, 2 * to).toString('utf16le')
    },
    end: () => (isEncoded && isEmpty ? '+' : ''),
  }
}

/** Translates to an 8-bit charset, which the platform decodes. */
interface ShiftRules {
  /**
   * @param out has room for `HELD_OCTETS_MAX` octets more than the piece has
   * @returns the position behind the written octets
   */
  write(piece: Uint8Array, out: Uint8Array): number
  end(out: Uint8Array): number
}

const HELD_OCTETS_MAX = 4
/** Bit that distinguishes characters of the 8-bit charset. */
const EIGHTH_BIT = 0x80
/** Octet for half a character. No charset here has it, so that it is shown as U+FFFD. */
const BROKEN = 0xff

function shiftedDecoder(rules: ShiftRules, encoding: string): CharsetDecoder {
  const decoder = new TextDecoder(encoding)
  return {
    write(piece) {
      const out = new Uint8Array(piece.length + HELD_OCTETS_MAX)
      return decoder.decode(out.subarray(0, rules.write(piece, out)), { stream: true })
    },
    end() {
      const out = new Uint8Array(HELD_OCTETS_MAX)
      return decoder.decode(out.subarray(0, rules.end(out)), { stream: true }) + decoder.decode()
    },
  }
}

const LF = 0x0a
const CR = 0x0d
const TILDE = 0x7e
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/**
 * Rules of HZ (RFC 1843). Octets that cannot stand between `~{` and `~}` end the two-octet characters, too.
 */
function hzRules(): ShiftRules {
  let isShifted = false
  let hasTilde = false
  let hasTildeCr = false
  let lead = 0

  const inAscii = (octet: number, out: Uint8Array, at: number): number => {
    let to = at
    if (hasTilde) {
      if (octet === CR && !hasTildeCr) {
        hasTildeCr = true
        return to
      }
      const wasCr = hasTildeCr
      hasTilde = false
      hasTildeCr = false
      if (octet === LF) return to
      if (octet === OPENING_BRACE && !wasCr) {
        isShifted = true
        return to
      }
      out[to++] = TILDE
      if (wasCr) out[to++] = CR
      else if (octet === TILDE) return to
    }
    if (octet === TILDE) hasTilde = true
    else out[to++] = octet
    return to
  }
  const inPairs = (octet: number, out: Uint8Array, at: number): number => {
    let to = at
    if (lead > 0) {
      const isWhole = octet > 0x20 && octet < 0x7f
      out[to++] = isWhole ? lead | EIGHTH_BIT : BROKEN
      if (isWhole) out[to++] = octet | EIGHTH_BIT
      lead = 0
      if (isWhole) return to
    } else if (hasTilde && octet === CLOSING_BRACE) {
      hasTilde = false
      isShifted = false
      return to
    } else if (!hasTilde && octet > 0x20 && octet < 0x78) {
      lead = octet
      return to
    } else if (!hasTilde && octet === TILDE) {
      hasTilde = true
      return to
    }
    isShifted = false
    return inAscii(octet, out, to)
  }
  return {
    write(piece, out) {
      let to = 0
      for (let from = 0; from < piece.length; from++)
        to = isShifted ? inPairs(piece[from]!, out, to) : inAscii(piece[from]!, out, to)
      return to
    },
    end(out) {
      let to = 0
      if (lead > 0) out[to++] = BROKEN
      if (hasTilde) out[to++] = TILDE
      if (hasTildeCr) out[to++] = CR
      return to
    },
  }
}

const SHIFT_OUT = 0x0e
const SHIFT_IN = 0x0f
/**
 * Escape sequence that designates Korean as the shifted charset. It stands once at the beginning, and is
 * removed.
 */
const DESIGNATION = [...Buffer.from('\x1b$)C')]

/** Decodes ISO-2022-KR (RFC 1557). */
function iso2022KrRules(): ShiftRules {
  let isShifted = false
  let lead = 0
  let designated = 0

  const plain = (octet: number, out: Uint8Array, at: number): number => {
    let to = at
    if (isShifted && octet > 0x20 && octet < 0x7f) {
      if (lead > 0) {
        out[to++] = lead | EIGHTH_BIT
        out[to++] = octet | EIGHTH_BIT
      }
      lead = lead > 0 ? 0 : octet
      return to
    }
    if (lead > 0) out[to++] = BROKEN
    lead = 0
    isShifted = octet === SHIFT_OUT
    if (octet !== SHIFT_OUT && octet !== SHIFT_IN) out[to++] = octet
    return to
  }
  const endDesignation = (out: Uint8Array, at: number): number => {
    let to = at
    const seen = designated
    designated = 0
    for (let i = 0; i < seen; i++) to = plain(DESIGNATION[i]!, out, to)
    return to
  }
  return {
    write(piece, out) {
      let to = 0
      for (let from = 0; from < piece.length; from++) {
        const octet = piece[from]!
        if (designated > 0 && octet !== DESIGNATION[designated]) to = endDesignation(out, to)
        if (octet !== DESIGNATION[designated]) to = plain(octet, out, to)
        else if (++designated === DESIGNATION.length) designated = 0
      }
      return to
    },
    end(out) {
      const to = endDesignation(out, 0)
      if (lead === 0) return to
      out[to] = BROKEN
      return to + 1
    },
  }
}

const ESCAPE = 0x1b
/** Octets that may follow in an escape sequence of ISO-2022-JP, by the octets before them. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x1b', '($'],
  ['\x1b(', 'BJI'],
  ['\x1b$', '@B('],
  ['\x1b$(', '@BD'],
])

/**
 * Rules of ISO-2022-JP. An escape sequence right behind another replaces it, as where texts were
 * joined. The platform shows U+FFFD there.
 */
function iso2022JpRules(): ShiftRules {
  /** The escape sequence that was read last, whole or in part; nothing follows it so far. */
  let held = ''

  const release = (out: Uint8Array, at: number): number => {
    let to = at
    for (let i = 0; i < held.length; i++) out[to++] = held.charCodeAt(i)
    held = ''
    return to
  }
  return {
    write(piece, out) {
      let to = 0
      for (let from = 0; from < piece.length; from++) {
        const octet = piece[from]!
        if (held !== '') {
          const character = String.fromCharCode(octet)
          const following = ESCAPES.get(held)
          if (following?.includes(character)) {
            held += character
            continue
          }
          if (following === undefined && octet === ESCAPE) held = ''
          else to = release(out, to)
        }
        if (octet === ESCAPE) held = '\x1b'
        else out[to++] = octet
      }
      return to
    },
    end: out => (ESCAPES.has(held) ? release(out, 0) : 0),
  }
}
