import * as assert from 'uvu/assert'
import { charsetOf } from '../../../../../src/protocols/mime/read/charset-labels.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/charset-labels')

const LABELS: [name: string, ...labels: string[]][] = [
  ['us-ascii', 'US-ASCII', 'ansi_x3.4-1968', 'ANSI-X3.4-1968', 'iso646-us', '646'],
  ['utf-8', 'UTF8', 'utf_8', '"utf-8"', 'unicode-1-1-utf-8', 'cp65001', 'utf-8-sig'],
  ['viscii', 'VISCII'],
  ['tcvn', 'TCVN-5712'],
  ['armscii-8', 'ARMSCII-8'],
  ['kz-1048', 'STRK1048-2002', 'RK1048'],
  ['x-mac-ce', 'x-mac-centraleurroman', 'mac-ce'],
  ['x-mac-greek', 'MacGreek'],
  ['cp1125', 'cp866u'],
  ['utf-7', 'utf7', 'x-unicode-2-0-utf-7'],
  ['utf-16', 'UTF-16', 'ucs-2', 'iso-10646-ucs-2'],
  ['utf-32le', 'utf-32le', 'UCS-4LE'],
  [
    'iso-8859-1',
    'latin1',
    'Latin-1',
    'ISO8859-1',
    'iso_8859-1:1987',
    'iso-8859_1',
    'ISO 8859-1',
    '8859_1',
    'csISOLatin1',
    'cp819',
  ],
  ['iso-8859-2', 'latin2', 'ISO8859_2'],
  ['iso-8859-15', 'latin9', 'iso8859-15'],
  ['iso-8859-8', 'iso-8859-8', 'ISO-8859-8-E'],
  ['iso-8859-8-i', 'iso-8859-8-i'],
  ['windows-874', 'iso-8859-11', 'tis-620', 'cp874'],
  ['windows-1250', 'cp1250', 'win-1250', 'x-cp1250', 'microsoft-cp1250'],
  [
    'windows-949',
    'euc-kr',
    'EUC_KR',
    'ks_c_5601-1987',
    'KS_C_5601-1989',
    'ks_c_5601',
    'ksc5601',
    'cp949',
    'uhc',
    'windows-949',
    'ms949',
  ],
  ['big5', 'big5', 'Big5-HKSCS', 'cn-big5', 'x-x-big5', 'cp950', 'windows-950'],
  ['gb18030', 'gb2312', 'GB_2312-80', 'gbk', 'x-gbk', 'cp936', 'euc-cn'],
  ['shift_jis', 'x-sjis', 'shift-jis', 'sjis', 'cp932', 'windows-31j', 'MS_Kanji'],
  ['euc-jp', 'eucjp', 'x-euc-jp', 'eucJP-ms', 'cp51932'],
  ['iso-2022-jp', 'iso-2022-jp-1', 'iso-2022-jp-ms', 'cp50221'],
  ['cp437', 'ibm437', 'cp-437', 'IBM-437', 'dos-437'],
  ['cp850', 'ibm850', 'CP850', 'oem850'],
  ['ibm866', 'cp866', 'ibm866', 'csIBM866'],
]
for (const [name, ...labels] of LABELS)
  test(`labels of ${name}`, () => {
    for (const label of labels) assert.is(charsetOf(label)?.name, name, label)
  })

test('labels that name no charset have no decoder', () => {
  for (const label of [
    '',
    ' ',
    'klingon',
    'x-user-defined',
    'latin11',
    'iso-8859-17',
    'base64',
    'hex',
    'cp999',
    'x'.repeat(10_000),
  ])
    assert.is(charsetOf(label), undefined, label)
})

const decode = (label: string, octets: Buffer) => {
  const decoder = charsetOf(label)!.createDecoder()
  return [...octets].map(octet => decoder.write(Buffer.of(octet))).join('') + decoder.end()
}

for (const [label, octets, text] of [
  ['viscii', 'a1', 'ắ'],
  ['tcvn', 'b8', 'á'],
  ['armscii-8', 'b2', 'Ա'],
  ['georgian-ps', 'c0', 'ა'],
  ['koi8-t', '80', 'қ'],
  ['x-mac-ce', '8a', 'ä'],
  ['x-mac-turkish', 'dc', 'İ'],
  ['hp-roman8', 'cc', 'ä'],
] as const)
  test(`the charset ${label} is decoded`, () => assert.is(decode(label, Buffer.from(octets, 'hex')), text))

/** Both octets of each character, as the encoding has them. */
function* pairs(trails: [number, number][]): Generator<Buffer> {
  for (let lead = 0x81; lead <= 0xfe; lead++)
    for (const [from, to] of trails) for (let trail = from; trail <= to; trail++) yield Buffer.of(lead, trail)
}

test('windows-949 has all 11,172 syllables of Hangul, octet by octet', () => {
  const syllables = new Set<string>()
  for (const pair of pairs([
    [0x41, 0x5a],
    [0x61, 0x7a],
    [0x81, 0xfe],
  ])) {
    const text = decode('ks_c_5601-1987', pair)
    if (/^[\uac00-\ud7a3]$/.test(text)) syllables.add(text)
  }
  assert.is(syllables.size, 11_172)
})

test('windows-949 has what the platform reads as EUC-KR, except its private characters', () => {
  const platform = new TextDecoder('euc-kr')
  for (const pair of pairs([[0xa1, 0xfe]])) {
    const text = platform.decode(pair)
    if (!/[\ufffd\ue000-\uf8ff]/.test(text)) assert.is(decode('euc-kr', pair), text, pair.toString('hex'))
  }
})

test('big5 has no private characters, and otherwise what the platform reads', () => {
  const platform = new TextDecoder('big5')
  for (const pair of pairs([
    [0x40, 0x7e],
    [0xa1, 0xfe],
  ])) {
    const text = decode('big5', pair)
    assert.not.match(text, /[\ue000-\uf8ff]/)
    const other = platform.decode(pair)
    // The last character is a block for the platform, and half-width in the Encoding Standard.
    if (!/[\ufffd\ue000-\uf8ff]/.test(other) && pair.toString('hex') !== 'f9fe') assert.is(text, other)
  }
})

test.run()
