import type { BudgetedResolver } from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import { assertLinearInTurns } from '../../../../kit/linear.ts'
import { suite } from '../../../../kit/suite.ts'
import { envelope, judgeBy, mailOf } from './scene.ts'

/** Holds that the work of the checks is in proportion to the message, whatever is repeated in it. */
const test = suite('verdicts/growth')

const KIB_BYTES = 1024
const TAGS = 'v=1; a=rsa-sha256; d=here.test; s=s'
/** A signature that ends with h= or b=, by the hash of an empty body. */
const SIGNED = `DKIM-Signature: ${TAGS}; c=relaxed/relaxed; bh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=`
const FROM = 'From: ann@here.test\r\n'

const repeat = (piece: string, size: number) => piece.repeat(Math.floor(size / piece.length))

/** Header sections of about so many octets. */
const HEADS: [what: string, head: (size: number) => string][] = [
  ['a field of lines without text', size => `${FROM}Subject: ${repeat('\r\n ', size)}x\r\n`],
  ['a field of short lines', size => `${FROM}Subject: ${repeat('x\r\n ', size)}x\r\n`],
  ['a first field of short lines', size => `X${repeat('\r\n y', size)}: y\r\n${FROM}`],
  ['lines that begin no field', size => `${FROM}X: y\r\n${repeat('b\r\n', size)}`],
  ['fields', size => `${FROM}${repeat('X:\r\n', size)}`],
  ['blanks in b=', size => `${FROM}${SIGNED}; h=from; b=${repeat(' ', size)}x\r\n`],
  ['folded blanks in b=', size => `${FROM}${SIGNED}; h=from; b=${repeat('\r\n ', size)}x\r\n`],
  ['runs of 500 blanks', size => `${FROM}${SIGNED}; h=from; b=${repeat(`x${' '.repeat(500)}`, size)}\r\n`],
  ['blanks in the name of the first field', size => `X${repeat(' ', size)}y: x\r\n${FROM}`],
  ['blanks in a seal', size => `${FROM}ARC-Seal: i=1; cv=none; b=${repeat(' ', size)}x\r\n`],
  ['blanks in an ARC signature', size => `${FROM}ARC-Message-Signature: i=1; b=${repeat(' ', size)}x\r\n`],
  ['tags', size => `${FROM}DKIM-Signature: ${repeat('a=b; ', size)}\r\n`],
  ['semicolons', size => `${FROM}${SIGNED}${repeat(';', size)}\r\n`],
  ['names in h=', size => `${FROM}${SIGNED}; b=x; h=from:${repeat('q:', size)}a\r\n`],
  ['signatures', size => FROM + repeat(`${SIGNED}; h=from; b=x\r\n`, size)],
  ['Received fields', size => FROM + repeat('Received: from a (b [192.0.2.1]) by c; today\r\n', size)],
  ['empty results in ARC', size => `${FROM}ARC-Authentication-Results: i=1; ${repeat(';;a', size)}\r\n`],
  ['comments in ARC', size => `${FROM}ARC-Authentication-Results: i=1${repeat('(', size)}\r\n`],
  ['comments in results', size => `${FROM}Authentication-Results: here.test${repeat('(()', size)}\r\n`],
  ['properties in ARC', size => `${FROM}ARC-Authentication-Results: i=1; spf=${repeat(' a.b=c', size)}\r\n`],
  ['a Return-Path of groups', size => `${FROM}Return-Path: ${repeat('a:', size)}\r\n`],
  ['From fields of groups', size => repeat(`From: ${'a:'.repeat(1_000)}\r\n`, size)],
  [
    'parameters of Content-Type',
    size => `${FROM}${SIGNED}; h=from; b=x\r\nContent-Type: multipart/mixed; ${repeat('a=b; ', size)}\r\n`,
  ],
  [
    'sections of a parameter',
    size => {
      const sections = Array.from({ length: size / 12 }, (_, at) => `a*${at}*=%41;`).join('')
      return `${FROM}${SIGNED}; h=from; b=x\r\nContent-Type: multipart/mixed; ${sections}\r\n`
    },
  ],
]
for (const [what, head] of HEADS)
  test(`${what}: four times as much takes little more than four times as long`, async () => {
    const judge = judgeBy(resolverOf([]))
    const work = (size: number) => judge(mailOf(`${head(size)}\r\n`, 64 * KIB_BYTES), envelope())
    await assertLinearInTurns(what, work, 30 * KIB_BYTES)
  })

const BODIES: [what: string, piece: string][] = [
  ['empty lines', '\r\n'],
  ['blanks at the ends of lines', ' \r\n'],
  ['blanks in a line', ' '],
  ['a line without an end', 'x'],
  ['tabs', 'a \t b\r\n'],
  ['boundaries', '--b\r\n'],
]
for (const canonical of ['simple/simple', 'relaxed/relaxed'])
  for (const [what, piece] of BODIES)
    test(`a body of ${what}, ${canonical}`, async () => {
      const judge = judgeBy(resolverOf([]))
      const head = `${FROM}DKIM-Signature: ${TAGS}; c=${canonical}; h=from; bh=AAAA; b=AAAA\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n`
      const work = (size: number) => judge(mailOf(head + repeat(piece, size), 64 * KIB_BYTES), envelope())
      await assertLinearInTurns(`${what}, ${canonical}`, work, 240 * KIB_BYTES)
    })

/** Records of about so many characters, which DNS gives for the policy, the key and SPF. */
const RECORDS: [what: string, record: (size: number) => string][] = [
  ['addresses of SPF', size => `v=spf1 ${repeat('ip4:192.0.2.1 ', size)}-all`],
  ['blanks in SPF', size => `v=spf1${repeat(' ', size)}-all`],
  ['macros of SPF', size => `v=spf1 exists:${repeat('%{i}', size)}`],
  ['delimiters of a macro', size => `v=spf1 exists:%{d${repeat('.-+', size)}}`],
  ['modifiers of SPF', size => `v=spf1 ${repeat('x=y ', size)}`],
  ['a key', size => `v=DKIM1; p=${repeat('A', size)}`],
  ['blanks in a key', size => `v=DKIM1; p=A${repeat(' ', size)}A`],
  ['tags of a key', size => `v=DKIM1; ${repeat('a=b;', size)}`],
  ['tags of a policy', size => `v=DMARC1; p=none; ${repeat('a=b;', size)}`],
  ['blanks in a policy', size => `v=DMARC1; p=none;${repeat(' ', size)}x`],
  ['reports of a policy', size => `v=DMARC1; p=none; rua=${repeat('mailto:a@b,', size)}`],
  ['control characters in a policy', size => `v=DMARC1; p=none; x=${repeat('\x01', size)}`],
]
for (const [what, record] of RECORDS)
  test(`records with ${what}`, async () => {
    const text = `${FROM}${SIGNED}; h=from; b=x\r\n\r\n`
    const work = (size: number) => judgeBy(resolverOf([record(size)]))(mailOf(text), envelope())
    await assertLinearInTurns(what, work, 2 * KIB_BYTES) // four times as much is the longest that is looked at
  })

/** Gives the same records of type TXT for every name. */
function resolverOf(records: readonly string[]): BudgetedResolver {
  const none = async () => ({ kind: 'no-data' as const })
  const txt = async () => (records.length > 0 ? { kind: 'found' as const, records: [...records] } : none())
  return { txt, addresses4: none, addresses6: none, mx: none, ptr: none, cname: none }
}

test.run()
